/* The common way of a hit, without calls: on the thread's own stack, nothing left behind, the path
 * known, an activation free, clocks open. Whether it can be gone is decided before anything
 * changes; otherwise the hit starts again on the way for all cases (activation.c). */
#pragma once
#include "runtime/activation.h"

/* Readings of a set for which can_read_quickly(). */
HOT void read_quickly(struct rt_area *a, uint64_t *out, uint32_t set, uint64_t now)
{
	if (set & 1 << RT_CPU)
		out[RT_CPU] = read_page(a, now);
	if (set & 1 << RT_WALL)
		out[RT_WALL] = now;
	if (likely(!(set >> RT_SYNC)))
		return;
	out[RT_SYNC] = a->waited_sync;
	out[RT_IO] = a->waited_io;
	out[RT_BYTES] = a->bytes;
}

/* 0: not known. */
HOT uint32_t quick_path(struct hit h)
{
	if (h.subject->flags & RT_PATH)
		return remembered(h).path;
	const struct rt_subject_state *s = area_subject(h.area, h.probe->subject);
	uint32_t path = s->path;
	return unlikely(area_path(h.area, path)->live) ? s->recursive : path;
}

/* Before the lists are looked at: a signal handler in between would change them. */
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

/* Whether there is nothing to begin because the innermost activation is of this loop. */
HOT bool goes_on_quickly(struct hit h, uint32_t top)
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
		return goes_on_quickly(h, top);
	uint64_t now = ticks();
	uint32_t path = quick_path(h);
	if (unlikely(!path))
		return false;
	area->hits[RT_ENTER]++;
	begin_change();
	struct rt_activation *a = area_activation(area, number);
	area->activation_free = a->next;
	push(h, s, a, number, path, true);
	read_quickly(area, a->start, metrics, now);
	end_change(area);
	return true;
}

HOT bool leave_marked(struct hit h, uint64_t now)
{
	struct readings r;
	struct rt_area *area = h.area;
	struct rt_stack *s = &area->stacks[0];
	struct rt_activation *a = area_activation(area, s->top);
	if (unlikely(!s->top || a->cfa != h.cfa || a->subject != h.probe->subject || !a->quick))
		return false;
	read_quickly(area, r.now, a->metrics, now);
	area->hits[RT_EXIT]++;
	begin_change();
	pop(area, &r, s, a);
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
