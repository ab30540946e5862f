/* The entry point of probes.
 *
 * The area is marked busy during a hit. If a signal handler interrupts us and hits probes itself,
 * it uses the area's sibling. A handler that never returns (siglongjmp) leaves the mark set. The
 * mark is the address of our frame, so a later hit further up the same stack recognises it as
 * void. */
#include "runtime/quick.h"

#include "runtime/permit.h"
#include "runtime/thread.h"

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
	if (nested < RT_AREA_BASE || nested >= RT_NO_AREA || (nested - RT_AREA_BASE) % RT_AREA_SIZE)
		return NULL;
	struct rt_area *sibling = region_at(nested);
	if (sibling->busy && !is_void(a, sibling->busy, here)) {
		a->dropped++;
		return NULL;
	}
	if (!sibling->clock_page && a->clock_page) {
		sibling->clock_offset = a->clock_offset;
		sibling->clock_lock = 1; /* never equals the page's lock, which is even */
		sibling->clock_page = a->clock_page;
	}
	return sibling;
}

static void count_event(const struct hit *h)
{
	++*(uint64_t *)area_at(h->area, h->probe->constant);
}

static void dispatch(const struct hit *h)
{
	struct readings *r = area_at(h->area, RT_AREA_WORK + WORK_READINGS);
	r->have = 0;
	switch (h->probe->kind) {
	case RT_ENTER: enter(h, r); break;
	case RT_EXIT: leave(h, r); break;
	case RT_BLOCK: block(h); break;
	case RT_BLOCK_DONE: block_done(h); break;
	case RT_WAIT: wait(h); break;
	case RT_WAIT_DONE: wait_done(h); break;
	case RT_TARGET: count_target(h); break;
	case RT_ITERATED:
		if (h->subject->active && is_active(h))
			count_event(h);
		break;
	case RT_LEFT:
		if (h->subject->active && leave(h, r))
			count_event(h);
		break;
	}
}

/* Whether this exit ends an activation that was running when its subject was removed, while the
 * probes are still in. If it were ignored, the activation would end only with the next one further
 * out. */
static COLD bool ends_last(const struct rt_probe *probe, const struct probe_frame *frame,
			   struct rt_area *a)
{
	if (probe->kind != RT_EXIT || !a || !a->stacks[0].top)
		return false;
	const struct rt_activation *top = area_activation(a, a->stacks[0].top);
	return top->subject == probe->subject &&
	       top->cfa == step_cfa(probe->step, frame_sp(frame), frame_fp(frame));
}

/* Not atomic: if threads race here, a few more or fewer activations do not matter. */
static COLD void spend_budget(struct rt_subject *s)
{
	if (s->budget > 1)
		s->budget--;
	else
		s->active = 0;
}

HOT struct hit make_hit(const struct rt_probe *probe, const struct probe_frame *frame,
			struct rt_area *a, const struct rt_subject *subject)
{
	uint64_t cfa = step_cfa(probe->step, frame_sp(frame), frame_fp(frame));
	return (struct hit){.probe = probe,
			    .frame = frame,
			    .area = a,
			    .subject = subject,
			    .cfa = cfa,
			    .own = area_owns(a, cfa)};
}

static COLD void hit_slowly(const struct rt_probe *probe, const struct probe_frame *frame)
{
	struct rt_area *a = thread_area();
	if (probe->kind == RT_MADE)
		note_made(probe, frame); /* for any thread: the last call counts */
	if (probe->kind >= RT_RENDEZVOUS || !a->tid)
		return;
	if (a->busy && !(a = free_area(a, (uint64_t)frame)))
		return;
	struct hit h = make_hit(probe, frame, a, region_subject(probe->subject));
	mark_busy(h);
	a->hits[probe->kind]++;
	dispatch(&h);
	mark_free(h);
}

void rt_hit(const struct rt_probe *probe, const struct probe_frame *frame)
{
	uint32_t kind = probe->kind;
	if (unlikely(!region_is_ours()))
		return;
	/* First, because reading the counter waits for all instructions before it. */
	uint64_t now = kind == RT_EXIT ? ticks() : 0;
	struct rt_area *a = thread_at_home();
	if (likely(kind <= RT_EXIT)) {
		struct rt_subject *subject = region_subject(probe->subject);
		if (unlikely(!subject->active) && !ends_last(probe, frame, a))
			return;
		if (unlikely(subject->budget) && kind == RT_ENTER)
			spend_budget(subject);
		if (likely(a && !a->busy)) {
			struct hit h = make_hit(probe, frame, a, subject);
			if (likely(hit_quickly(h, kind, now)))
				return;
		}
	} else if (kind == RT_RENDEZVOUS) {
		rendezvous(probe);
		return;
	} else if (kind == RT_BLOCK) {
		struct program_call call = program_call(probe, frame);
		if (unlikely(may_confine(&call))) {
			confinement(&call); /* for any thread, even inside another hit */
			return;
		}
	}
	hit_slowly(probe, frame);
}
