/* The fast path of a hit, without calls or variables on the stack. It needs: the thread's own
 * stack, nothing left by longjmp, the path in the cache, a free activation, clocks open. It checks
 * all of this before it changes anything; if it does not apply, the hit starts again on the general
 * path (activation.c). */
#pragma once
#include "runtime/activation.h"

/* Whether a set of metrics that can_read_quickly() can be read at `now`. */
HOT bool can_read_now(const struct rt_area *a, uint32_t set, uint64_t now)
{
	return !(set & 1 << RT_CPU) || page_holds(a, now);
}

HOT void start_quickly(const struct rt_area *area, struct rt_activation *a, uint64_t now)
{
	if (a->metrics & 1 << RT_CPU)
		a->start[RT_CPU] = reckon_cpu(area, now);
	if (a->metrics & 1 << RT_WALL)
		a->start[RT_WALL] = now;
	if (likely(!(a->metrics >> RT_SYNC)))
		return;
	a->start[RT_SYNC] = area->waited_sync;
	a->start[RT_IO] = area->waited_io;
	a->start[RT_BYTES] = area->bytes;
}

/* The path of the hit; 0: it is not in the cache. */
HOT uint32_t quick_path(struct hit h)
{
	if (h.subject->flags & RT_PATH)
		return remembered(h).path;
	const struct rt_subject_state *s = area_subject(h.area, h.probe->subject);
	uint32_t path = s->path;
	return unlikely(area_path(h.area, path)->live) ? s->recursive : path;
}

/* Must be called before the lists are read: otherwise a signal handler might change them in
 * between. */
HOT void mark_busy(struct hit h)
{
	h.area->busy = (uint64_t)h.frame;
	keep_order();
}

HOT void mark_free(struct hit h)
{
	keep_order();
	h.area->busy = 0;
}

HOT bool count_quickly(struct hit h)
{
	uint32_t path = quick_path(h);
	if (unlikely(!path))
		return false;
	h.area->hits[RT_ENTER]++;
	area_path(h.area, path)->calls++;
	return true;
}

/* The quick part of is_still_running(): whether nothing begins because the innermost activation is
 * of this loop. */
HOT bool is_still_running_quickly(struct hit h, uint32_t top)
{
	const struct rt_activation *a = area_activation(h.area, top);
	return h.probe->unless_active && h.own && top && a->cfa == h.cfa &&
	       a->subject == h.probe->subject;
}

HOT bool enter_marked(struct hit h)
{
	struct rt_area *area = h.area;
	struct rt_stack *s = &area->stacks[0];
	uint32_t top = s->top, number = area->activation_free, metrics = h.subject->metrics;
	if (h.subject->flags & RT_COUNT_ONLY)
		return count_quickly(h);
	if (unlikely(!h.own || !number || !can_read_quickly(area, metrics) ||
		     (top && area_activation(area, top)->cfa <= h.cfa)))
		return is_still_running_quickly(h, top);
	uint64_t now = ticks();
	uint32_t path = quick_path(h);
	if (unlikely(!path || !can_read_now(area, metrics, now)))
		return false;
	area->hits[RT_ENTER]++;
	begin_change();
	struct rt_activation *a = area_activation(area, number);
	area->activation_free = a->next;
	push(h, s, a, number, path, true);
	start_quickly(area, a, now);
	end_change(area);
	return true;
}

HOT void settle_quickly(struct rt_area *area, const struct rt_activation *a, uint64_t now)
{
	struct rt_path *p = area_path(area, a->path);
	struct rt_activation *outer = outside(area, a);
	uint32_t set = a->metrics;
	if (set & 1 << RT_CPU)
		settle(p, reckon_cpu(area, now), a, outer, RT_CPU);
	if (set & 1 << RT_WALL)
		settle(p, now, a, outer, RT_WALL);
	if (unlikely(set >> RT_SYNC)) {
		if (set & 1 << RT_SYNC)
			settle(p, area->waited_sync, a, outer, RT_SYNC);
		if (set & 1 << RT_IO)
			settle(p, area->waited_io, a, outer, RT_IO);
		if (set & 1 << RT_BYTES)
			settle(p, area->bytes, a, outer, RT_BYTES);
	}
	pass_on(a, outer);
}

HOT bool leave_marked(struct hit h, uint64_t now)
{
	struct rt_area *area = h.area;
	struct rt_stack *s = &area->stacks[0];
	struct rt_activation *a = area_activation(area, s->top);
	if (unlikely(!s->top || a->cfa != h.cfa || a->subject != h.probe->subject || !a->quick ||
		     !can_read_now(area, a->metrics, now)))
		return false;
	area->hits[RT_EXIT]++;
	begin_change();
	settle_quickly(area, a, now);
	pop(area, s, a);
	end_change(area);
	return true;
}

HOT bool hit_quickly(struct hit h, uint32_t kind, uint64_t now)
{
	mark_busy(h);
	bool done = kind == RT_ENTER ? enter_marked(h) : leave_marked(h, now);
	mark_free(h);
	return done;
}
