/* Looking functions up. The starts that the file gives are collected when somebody first does. */
#include "base/order.h"
#include "flow/internal.h"
#include "flow/start_cache.h"

static void start(struct flow *f)
{
	if (!start_cache_load(f)) {
		starts_from_file(f);
		start_cache_store(f);
	}
	publish(f);
}

bool flow_is_ready(const struct flow *f)
{
	return atomic_load_explicit(&f->started, memory_order_acquire);
}

void need_starts(const struct flow *constant)
{
	struct flow *f = (struct flow *)(uintptr_t)constant;
	if (flow_is_ready(f))
		return;
	pthread_mutex_lock(&f->starting);
	if (!atomic_load(&f->started)) {
		start(f);
		atomic_store_explicit(&f->started, true, memory_order_release);
	}
	pthread_mutex_unlock(&f->starting);
}

const struct function *flow_functions(const struct flow *f, uint32_t *count)
{
	need_starts(f);
	*count = f->published_count;
	return f->published;
}

const struct part *flow_parts(const struct flow *f)
{
	need_starts(f);
	return f->parts.data;
}

/* If other functions jump into the middle of a function, it may have become a part of them before a
 * call of it was found. Then it is both, and the function itself is preferred. */
uint32_t flow_function_at(const struct flow *f, uint64_t va)
{
	need_starts(f);
	const struct function *all = f->published;
	uint32_t at = ORDER_UP_TO(all, f->published_count, start, va) - 1;
	at = at != UINT32_MAX && va < all[at].end ? at : UINT32_MAX;
	uint32_t n = ORDER_UP_TO(f->owned_parts.data, f->owned_parts.len, part.start, va);
	const struct owned_part *o = n ? &f->owned_parts.data[n - 1] : NULL;
	if (!o || va >= o->part.end)
		return at;
	return at != UINT32_MAX && all[at].start >= o->part.start ? at : o->owner;
}
