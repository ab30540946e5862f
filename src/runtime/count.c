/* Calls of counting code into the runtime, where its fast path does not apply: see abi_count.h.
 *
 * The count area is marked busy during a call, and a signal handler that interrupts it gets the
 * sink. If the handler never returns, the mark stays; a later event further up the stack recognises
 * it as void. */
#include "runtime/count.h"

#include "runtime/thread.h"

static uint64_t sink(void)
{
	((struct rt_area *)region_at(RT_SINK_AREA))->top = region_base() + RT_SINK_FRAME;
	return region_base() + RT_SINK;
}

static bool was_abandoned(const struct rt_area *a, uint64_t holder, uint64_t here)
{
	return area_owns(a, here) && (!area_owns(a, holder) || here >= holder);
}

/* False if the thread cannot count now. */
static bool find_count(struct count_event *c, uint64_t sp)
{
	struct rt_area *a = region_is_ours() ? thread_area() : NULL;
	struct rt_count *n = a ? (struct rt_count *)a->count : NULL;
	if (unlikely(!n))
		return false;
	if (unlikely(n->busy && !was_abandoned(a, n->busy, sp))) {
		add(&n->dropped_busy, 1);
		return false;
	}
	*c = (struct count_event){.area = a, .count = n, .sp = sp, .own = area_owns(a, sp)};
	return true;
}

static bool begin(struct count_event *c, uint64_t sp)
{
	if (!find_count(c, sp))
		return false;
	c->count->busy = sp;
	keep_order();
	return true;
}

static uint64_t finish(const struct count_event *c, const struct rt_context *x)
{
	keep_order();
	c->count->busy = 0;
	return x ? (uint64_t)x : sink();
}

/* ---- events ---- */

/* Whether a function with this return address is a signal handler. */
static bool is_handler(uint64_t link)
{
	return region_has_text(region_header(), link) && is_sigreturn(link);
}

/* A signal handler has no call site, whatever the interrupted function called last. */
uint64_t rt_called(uint64_t function, uint64_t sp, uint64_t link)
{
	struct count_event c;
	if (!begin(&c, sp))
		return sink();
	shadow_strip(&c);
	const struct rt_shadow *caller = shadow_top(&c);
	uint32_t site = key_site(caller->key);
	if (is_handler(entry_link(sp, link)))
		site = 0;
	struct rt_context *x = context_called(&c, shadow_context(caller), site, (uint32_t)function);
	if (x)
		shadow_push(&c, x, 0, sp);
	return finish(&c, x);
}

/* Continues an activation that was not counted from its beginning: its callers are unknown. */
static struct rt_context *resume(const struct count_event *c, uint32_t function, uint32_t site)
{
	struct rt_context *x = context_met(c, function);
	if (!x)
		return NULL;
	shadow_push(c, x, c->sp | (uint64_t)site << RT_KEY_SITE, RT_ENTRY_UNKNOWN);
	depart(c, (uint64_t)x, site, DEPARTURE_RESUMED);
	return x;
}

/* Another function has jumped into the middle of this one. This one will return to the caller of
 * the other. */
static struct rt_context *intrude(const struct count_event *c, uint32_t function, uint32_t place)
{
	shadow_strip(c);
	const struct rt_shadow *caller = shadow_top(c);
	const struct rt_context *parent = shadow_context(caller);
	uint32_t site = key_site(caller->key);
	struct rt_context *x = context_reached(c, parent, site, function);
	if (!x)
		return NULL;
	shadow_push(c, x, c->sp, RT_ENTRY_UNKNOWN);
	uint64_t *times = depart(c, (uint64_t)x, place, DEPARTURE_RESUMED);
	if (times)
		context_remember_jump(c, parent, site, x, place, times);
	return x;
}

uint64_t rt_returned(uint64_t function_and_site, uint64_t sp)
{
	struct count_event c;
	uint32_t function = (uint32_t)function_and_site,
		 place = (uint32_t)(function_and_site >> 32), site = place & RT_PLACE ? 0 : place;
	uint64_t key = sp | (uint64_t)site << RT_KEY_SITE;
	if (!begin(&c, sp))
		return sink();
	struct rt_shadow *f = shadow_find(&c, function, key);
	if (!f)
		return finish(&c, site ? resume(&c, function, site) : intrude(&c, function, place));
	if (site && key_site(f->key) != site) {
		shadow_resume(&c, f, site);
		f->key = key;
	}
	return finish(&c, shadow_context(f));
}

/* The call that threw has ended. f->key no longer names it, so that it is not counted as left a
 * second time if the activation is left before it makes another call. */
uint64_t rt_landed(uint64_t function_and_loop, uint64_t sp)
{
	struct count_event c;
	uint32_t function = (uint32_t)function_and_loop;
	if (!begin(&c, sp))
		return sink();
	struct rt_shadow *f = shadow_find(&c, function, 0);
	if (!f)
		return finish(&c, resume(&c, function, 0));
	depart(&c, f->context, key_site(f->key), DEPARTURE_LEFT);
	shadow_end_loops(&c, f, (uint32_t)(function_and_loop >> 32));
	f->key = sp;
	return finish(&c, shadow_context(f));
}

/* An activation that has the sink wrote its trip count to the sink's area: then this one is 0. */
uint64_t rt_tripped(uint64_t loop, uint64_t sp)
{
	struct count_event c;
	if (!find_count(&c, sp) || !c.area->trip)
		return loop;
	count_trips(c.area, (uint32_t)loop, c.area->trip);
	c.area->trip = 0;
	return loop;
}
