/* Activations: what has begun and not ended yet, as lists per stack from the innermost outwards.
 * The steps that the common way (quick.h) and the others (activation.c) are made of. */
#pragma once
#include "runtime/clock.h"
#include "runtime/instance.h"

/* Other processors see that the area is busy before anything that changes, and that the number has
 * changed before it is free again. */
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

/* Adds what one metric of the activation amounted to, to its path and to what the next outer one
 * has below it. One that was running before its probe was there began by Sonde's clock, which may
 * be ahead by a little. */
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

/* What was below it in metrics that are not its own is below the next outer one. */
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

/* Ends the innermost activation of a stack, which is settled. */
HOT void pop(struct rt_area *area, struct rt_stack *s, struct rt_activation *a)
{
	uint32_t number = s->top;
	area_path(area, a->path)->live--;
	s->top = a->next;
	a->cfa = 0;
	a->next = area->activation_free;
	area->activation_free = number;
}

/* Makes a free activation the innermost one. Its readings follow, as the last thing that is done,
 * so that they include little of our own time. */
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
