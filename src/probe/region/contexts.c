/* The counting state of threads. Its layout is in runtime/abi_count.h.
 *
 * Count areas are large, and every process has a region: so we do not map them, but read and write
 * them as a file. */
#include "probe/region/contexts.h"

#include <fcntl.h>
#include <string.h>

#include "probe/region/region_file.h"

/* ---- what threads begin with ---- */

/* The first record of a heap. */
struct root_record {
	struct rt_record record;
	struct rt_context_slot slot;
	struct rt_context context;
};
enum { ROOT_SIZE = (sizeof(struct root_record) + 15) / 16 * 16 };

uint64_t contexts_root(uint32_t slot)
{
	return RT_COUNT_AREA(slot) + RT_COUNT_CONTEXTS + offsetof(struct root_record, context);
}

static bool set_frame(const struct target *t, uint64_t at, uint64_t context)
{
	struct rt_shadow f = {.context = t->region.base + context,
			      .key = RT_ROOT_KEY,
			      .entry_sp = RT_ENTRY_UNKNOWN};
	return region_write(t, at, &f, sizeof(f));
}

/* Makes the thread of this area count nothing. */
static void set_none(const struct target *t, struct rt_area *a)
{
	a->count = 0;
	a->top = t->region.base + RT_NO_FRAME;
	a->callees = t->region.base + RT_NO_CALLEES;
}

/* Tried twice: the child of a fork has code that counts already, and nowhere else to count into. */
static bool set_sink_frame(const struct target *t, uint64_t at)
{
	bool set = false;
	for (int tries = 0; tries < 2 && !set; tries++)
		set = set_frame(t, at, RT_SINK);
	return set;
}

/* Prepares the contexts and areas that belong to no thread. */
static bool prepare_sink(struct target *t)
{
	struct rt_context_slot *slots = target_at(t, RT_SINK);
	struct rt_context *nobody = target_at(t, RT_NOBODY), *sink = target_at(t, RT_SINK);
	nobody->area = sink->area = t->region.base + RT_SINK_AREA;
	nobody->function = sink->function = RT_NO_FUNCTION;
	for (int32_t i = 1; i <= RT_COUNTED_SITES_MAX + 1; i++)
		slots[-i].child = t->region.base + RT_NOBODY;
	if (!set_sink_frame(t, RT_NO_FRAME) || !set_sink_frame(t, RT_SINK_FRAME))
		return false;
	struct rt_area *of_sink = target_at(t, RT_SINK_AREA);
	set_none(t, target_at(t, RT_NO_AREA));
	set_none(t, of_sink);
	of_sink->top = t->region.base + RT_SINK_FRAME;
	return true;
}

/* Makes the root's context and frame. Returns false if there is no memory. */
static bool make_root(struct target *t, uint32_t slot)
{
	uint64_t area = RT_COUNT_AREA(slot);
	struct root_record root = {
		.record = {.size = ROOT_SIZE, .context = offsetof(struct root_record, context)},
		.slot = {.child = t->region.base + RT_NOBODY},
		.context = {.area = t->region.base + RT_AREA(slot)},
	};
	struct rt_count state = {.contexts_used = ROOT_SIZE, .contexts_granted = RT_CONTEXT_CHUNK};
	if (!region_write(t, area + RT_COUNT_CONTEXTS, &root, sizeof(root)) ||
	    !region_write(t, area + RT_COUNT_STATE, &state, sizeof(state)) ||
	    !set_frame(t, area + RT_COUNT_ROOT, contexts_root(slot)))
		return false;
	__atomic_fetch_add(&target_header(t)->context_bytes, RT_CONTEXT_CHUNK, __ATOMIC_RELAXED);
	target_area(t, slot)->top = t->region.base + area + RT_COUNT_ROOT;
	return true;
}

void contexts_give_up(struct target *t, uint32_t slot)
{
	set_none(t, target_area(t, slot));
}

void contexts_prepare(struct target *t, uint32_t slot)
{
	struct rt_area *a = target_area(t, slot);
	if (slot && a->stack_high - a->stack_low > RT_STACK_MAX) {
		set_none(t, a);
		return;
	}
	if (!a->count && !make_root(t, slot)) {
		contexts_give_up(t, slot);
		return;
	}
	a->count = t->region.base + RT_COUNT_AREA(slot) + RT_COUNT_STATE;
	a->callees = t->region.base + RT_COUNT_AREA(slot) + RT_COUNT_CALLEES;
}

bool contexts_begin(struct target *t)
{
	struct rt_header *h = target_header(t);
	h->context_limit = RT_CONTEXT_LIMIT;
	h->context_room = RT_CONTEXT_ROOM;
	if (!prepare_sink(t))
		return false;
	t->counting.on = true;
	for (uint32_t i = 0; i < RT_AREAS; i++)
		if (t->slots[i].tid)
			contexts_prepare(t, i);
	return true;
}

void contexts_wipe(struct target *t, uint32_t slot)
{
	struct rt_count state;
	struct rt_area *a = target_area(t, slot);
	if (region_read(t, RT_COUNT_AREA(slot) + RT_COUNT_STATE, &state, sizeof(state)))
		__atomic_fetch_sub(&target_header(t)->context_bytes, state.contexts_granted,
				   __ATOMIC_RELAXED);
	fallocate(t->region.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		  (off_t)RT_COUNT_AREA(slot), (off_t)RT_COUNT_SIZE);
	set_none(t, a);
}

void contexts_note_adopted(struct thread_slot *slot, uint64_t context, uint32_t site, uint64_t va)
{
	vec_each (x, &slot->adopted)
		if (x->context == context && x->site == site && x->va == va) {
			x->times++;
			return;
		}
	vec_push(&slot->adopted, (struct adopted_at){context, site, va, 1});
}

/* ---- reading it ---- */

enum { COPIED_AT_ONCE = 1 << 20 }; /* bytes of a heap */

bool contexts_open(const struct target *t, uint32_t slot, struct context_heap *out)
{
	uint64_t offset = RT_COUNT_AREA(slot) + RT_COUNT_CONTEXTS;
	*out = (struct context_heap){
		.target = t, .base = t->region.base + offset, .offset = offset};
	return target_area(t, slot)->count &&
	       region_read(t, RT_COUNT_AREA(slot) + RT_COUNT_STATE, &out->state,
			   sizeof(out->state)) &&
	       out->state.contexts_used <= RT_CONTEXT_SPACE && out->state.asides <= RT_ASIDES;
}

/* Returns at least `size` bytes of the heap from `at` on, which are copied if they are not yet;
 * NULL if that fails. */
static uint8_t *copy_part(struct context_heap *h, uint64_t at, uint64_t size)
{
	uint64_t left = h->state.contexts_used - at;
	if (at >= h->first && at + size <= h->end)
		return h->bytes + (at - h->first);
	if (size < COPIED_AT_ONCE)
		size = left < COPIED_AT_ONCE ? left : COPIED_AT_ONCE;
	if (h->room < size) {
		free(h->bytes);
		h->bytes = xmalloc(size);
		h->room = size;
	}
	h->first = at;
	h->end = region_read(h->target, h->offset + at, h->bytes, size) ? at + size : at;
	return h->end > at ? h->bytes : NULL;
}

bool contexts_copy_all(struct context_heap *h)
{
	return copy_part(h, 0, h->state.contexts_used);
}

struct rt_record *contexts_record(struct context_heap *h, uint64_t *at)
{
	uint64_t used = h->state.contexts_used;
	struct rt_record *r = NULL;
	if (*at + sizeof(struct rt_edge) <= used)
		r = (struct rt_record *)copy_part(h, *at, sizeof(struct rt_edge));
	if (!r)
		return NULL;
	uint32_t size = r->size, context = r->context;
	if (size < sizeof(struct rt_edge) || size % 16 || size > used - *at ||
	    (context &&
	     (context < sizeof(*r) || context % 16 || context + sizeof(struct rt_context) > size)))
		return NULL;
	r = (struct rt_record *)copy_part(h, *at, size);
	*at += size;
	return r;
}

bool frames_copy(const struct target *t, uint32_t slot, uint32_t asides, struct frames *out)
{
	uint64_t root = RT_COUNT_AREA(slot) + RT_COUNT_ROOT;
	uint64_t top = target_area(t, slot)->top - t->region.base;
	*out = (struct frames){.top = top};
	if (top > root || top < RT_COUNT_GAP || top % 16)
		return false;
	out->size = root - top;
	out->shadow = xmalloc(out->size + 1);
	out->asides = xmalloc(asides * sizeof(*out->asides) + 1);
	out->aside_count = asides;
	if (region_read(t, top, out->shadow, out->size) &&
	    region_read(t, RT_COUNT_AREA(slot) + RT_COUNT_ASIDES, out->asides,
			asides * sizeof(*out->asides)))
		return true;
	frames_release(out);
	return false;
}

void frames_release(struct frames *f)
{
	free(f->shadow);
	free(f->asides);
}

bool shadow_next(struct shadow_walk *w)
{
	const struct context_heap *h = w->heap;
	w->at += w->size;
	w->size = 0;
	w->complete = w->at == w->end;
	if (w->end - w->at < (ptrdiff_t)sizeof(*w->frame))
		return false;
	w->frame = (struct rt_shadow *)w->at;
	uint64_t offset = w->frame->context - h->base;
	if (offset % 16 || offset >= h->state.contexts_used ||
	    h->state.contexts_used - offset < sizeof(struct rt_context))
		return false;
	struct rt_context x;
	const struct rt_counted *table = target_at(h->target, RT_COUNTED);
	if (!region_read(h->target, h->offset + offset, &x, sizeof(x)) || !x.function ||
	    x.function >= RT_FUNCTIONS)
		return false;
	w->counted = &table[x.function];
	uint32_t size = w->counted->frame;
	if (size < sizeof(*w->frame) || size > RT_FRAME_MAX || size % 16 || size > w->end - w->at)
		return false;
	w->size = size;
	return true;
}
