/* What a probe calls.
 *
 * The area is marked busy meanwhile. If a signal handler interrupts us and hits probes itself, it
 * uses the area's sibling. A handler that never comes back (siglongjmp) leaves the mark behind: it
 * is the address of our frame, and a later hit further up the same stack knows that it is void. */
#include "runtime/hit.h"

#include "runtime/thread.h"

/* False if the process is a child that nobody has prepared. */
static bool guarded(void)
{
	uint64_t guard = region_guard();
	return !guard || likely(*(const volatile uint64_t *)guard == RT_GUARD);
}

static bool is_void(const struct rt_area *a, uint64_t holder, uint64_t here)
{
	return area_owns(a, holder) && area_owns(a, here) && here > holder;
}

/* The area to use in place of one that is busy; NULL if there is none. */
static COLD struct rt_area *free_area(struct rt_area *a, uint64_t here)
{
	uint64_t base = region_base();
	if (is_void(a, a->busy, here))
		return a;
	uint64_t nested = a->nested - base;
	if (nested < RT_AREA_BASE || nested > RT_NO_AREA || (nested - RT_AREA_BASE) % RT_AREA_SIZE)
		return NULL;
	struct rt_area *sibling = region_at(nested);
	if (sibling->busy && !is_void(a, sibling->busy, here)) {
		a->dropped++;
		return NULL;
	}
	if (!sibling->clock_page && a->clock_page) {
		sibling->clock_offset = a->clock_offset;
		sibling->clock_page = a->clock_page;
	}
	return sibling;
}

static void dispatch(struct hit *h)
{
	switch (h->probe->kind) {
	case RT_ENTER: enter(h); break;
	case RT_EXIT: leave(h); break;
	case RT_BLOCK: block(h); break;
	case RT_BLOCK_DONE: block_done(h); break;
	case RT_WAIT: wait(h); break;
	case RT_WAIT_DONE: wait_done(h); break;
	case RT_TARGET: count_target(h); break;
	}
}

void rt_hit(const struct rt_probe *probe, const struct frame *frame)
{
	uint32_t kind = probe->kind;
	if (unlikely(kind >= RT_RENDEZVOUS)) {
		if (kind == RT_RENDEZVOUS)
			rendezvous(probe);
		return;
	}
	struct hit h;
	h.probe = probe;
	h.frame = frame;
	h.have = 0;
	h.subject = region_subject(probe->subject);
	if (!guarded() || (kind <= RT_EXIT && !h.subject->active))
		return;
	struct rt_area *a = thread_area();
	if (!a->tid)
		return;
	if (unlikely(a->busy) && !(a = free_area(a, (uint64_t)frame)))
		return;
	a->busy = (uint64_t)frame;
	keep_order();
	a->hits[kind]++;
	h.area = a;
	h.cfa = step_cfa(probe->step, frame_sp(frame), frame_fp(frame));
	h.own = area_owns(a, h.cfa);
	dispatch(&h);
	keep_order();
	a->busy = 0;
}
