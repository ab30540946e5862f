/* Activations that have begun and not ended, as one list per stack, from the innermost outwards.
 * These are the steps that the fast path (quick.h) and the general one (activation.c) share. */
#pragma once
#include "runtime/clock.h"
#include "runtime/instance.h"

/* Other CPUs see that the area is busy before any of the changes, and the new sequence number
 * before the area is free again. */
HOT void begin_change(void)
{
	order_stores();
}

HOT void end_change(struct rt_area *a)
{
	order_stores();
	a->sequence++;
}

HOT void add_below(struct rt_activation *outer, unsigned metric, uint64_t value)
{
	if (outer->below_set >> metric & 1)
		value += outer->below[metric];
	outer->below[metric] = value;
	outer->below_set |= UINT32_C(1) << metric;
}

/* Adds the value of one metric of an ending activation to its path, and to `below` of the next
 * outer activation. An activation that was running before its probe went in has a start time from
 * Sonde's clock, which may be slightly ahead: then the value is 0. */
HOT void settle(struct rt_path *p, uint64_t now, const struct rt_activation *a,
		struct rt_activation *outer, unsigned m)
{
	uint64_t value = likely(now > a->start[m]) ? now - a->start[m] : 0;
	uint64_t below = unlikely(a->below_set >> m & 1) ? a->below[m] : 0;
	p->total[m] += value;
	p->self[m] += likely(value > below) ? value - below : 0;
	if (outer)
		add_below(outer, m, value);
}

/* Passes values of metrics that the activation itself does not measure on to the next outer one. */
HOT void pass_on(const struct rt_activation *a, struct rt_activation *outer)
{
	uint32_t others = a->below_set & METRICS_KNOWN & ~a->metrics;
	if (unlikely(outer && others))
		for (uint32_t set = others; set; set &= set - 1)
			add_below(outer, lowest(set), a->below[lowest(set)]);
}

/* The next outer activation; NULL if there is none. */
HOT struct rt_activation *outside(struct rt_area *area, const struct rt_activation *a)
{
	return unlikely(a->next) ? area_activation(area, a->next) : NULL;
}

/* Ends the innermost activation of a stack, after its values have been added. */
HOT void pop(struct rt_area *area, struct rt_stack *s, struct rt_activation *a)
{
	uint32_t number = s->top;
	area_path(area, a->path)->live--;
	s->top = a->next;
	a->cfa = 0;
	a->next = area->activation_free;
	area->activation_free = number;
}

/* Makes a free activation the innermost one. The caller reads its start values last, so that they
 * include little of our own time. */
HOT void push(struct hit h, struct rt_stack *s, struct rt_activation *a, uint32_t number,
	      uint32_t path, bool quick)
{
	struct rt_path *p = area_path(h.area, path);
	p->calls++;
	p->live++;
	a->cfa = h.cfa;
	a->subject = h.probe->subject;
	a->path = path;
	a->next = s->top;
	a->quick = quick;
	a->metrics = h.subject->metrics & METRICS_KNOWN;
	a->below_set = 0;
	s->top = number;
}
