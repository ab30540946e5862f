/* Activations: what has begun and not ended yet, as lists per stack from the innermost outwards.
 *
 * The CFA tells which of them are void: those further down the stack than where we are were left by
 * longjmp or by an exception. They end now, for want of a better time. */
#include "runtime/clock.h"

static void begin_change(struct rt_area *a)
{
	a->sequence = (a->sequence + 1) | 1;
	order_stores();
}

static void end_change(struct rt_area *a)
{
	order_stores();
	a->sequence++;
}

static void add_below(struct rt_activation *outer, unsigned metric, uint64_t value)
{
	if (outer->below_set >> metric & 1)
		value += outer->below[metric];
	outer->below[metric] = value;
	outer->below_set |= UINT32_C(1) << metric;
}

/* Adds what the activation amounted to, to its path and to what the next outer one has below it. */
static void settle(struct hit *h, struct rt_activation *a, struct rt_activation *outer)
{
	struct rt_path *p = area_path(h->area, a->path);
	uint32_t own = a->metrics & METRICS_KNOWN;
	read_metrics(h, own);
	for (uint32_t set = own; set; set &= set - 1) {
		unsigned m = lowest(set);
		uint64_t value = h->now[m] - a->start[m];
		uint64_t below = a->below_set >> m & 1 ? a->below[m] : 0;
		p->total[m] += value;
		p->self[m] += value - below;
		if (outer)
			add_below(outer, m, value);
	}
	if (outer)
		for (uint32_t set = a->below_set & METRICS_KNOWN & ~own; set; set &= set - 1)
			add_below(outer, lowest(set), a->below[lowest(set)]);
}

/* Ends the innermost activation of a stack. */
static void pop(struct hit *h, struct rt_stack *s)
{
	uint32_t number = s->top;
	struct rt_area *area = h->area;
	struct rt_activation *a = area_activation(area, number);
	struct rt_subject_state *state = area_subject(area, a->subject);
	uint32_t next = a->next;
	settle(h, a, next ? area_activation(area, next) : NULL);
	s->top = next;
	if (state->live)
		state->live--;
	a->cfa = 0;
	a->next = area->activation_free;
	area->activation_free = number;
}

/* Ends activations until `last` (a number) has ended too. */
static void pop_through(struct hit *h, struct rt_stack *s, uint32_t last)
{
	for (uint32_t i = 0; i < RT_ACTIVATIONS && s->top; i++) {
		bool done = s->top == last;
		pop(h, s);
		if (done)
			return;
	}
}

/* The activation of the hit's subject in the hit's frame; 0: none. */
static uint32_t find_live(struct hit *h, const struct rt_stack *s)
{
	uint32_t number = s->top;
	for (uint32_t i = 0; number && i < RT_ACTIVATIONS; i++) {
		const struct rt_activation *a = area_activation(h->area, number);
		if (a->cfa > h->cfa)
			return 0;
		if (a->cfa == h->cfa && a->subject == h->probe->subject)
			return number;
		number = a->next;
	}
	return 0;
}

/* What cannot be active any more when the subject begins. */
static void pop_void(struct hit *h, struct rt_stack *s)
{
	bool loop = h->subject->flags & RT_LOOP;
	if (loop) {
		uint32_t before = find_live(h, s);
		if (before)
			pop_through(h, s, before);
	}
	for (uint32_t i = 0; s->top && i < RT_ACTIVATIONS; i++) {
		uint64_t cfa = area_activation(h->area, s->top)->cfa;
		if (cfa > h->cfa || (loop && cfa == h->cfa))
			return;
		pop(h, s);
	}
}

static struct rt_stack *choose_stack(struct hit *h)
{
	struct rt_area *a = h->area;
	struct rt_stack *spare = NULL;
	if (likely(h->own))
		return &a->stacks[0];
	for (uint32_t i = 1; i < RT_STACKS; i++) {
		struct rt_stack *s = &a->stacks[i];
		if (s->top && s->root == h->root)
			return s;
		if (!s->top && !spare)
			spare = s;
	}
	if (!spare) {
		a->dropped++;
		return NULL;
	}
	spare->root = h->root;
	return spare;
}

/* A free activation; 0: none. */
static uint32_t take(struct rt_area *a)
{
	uint32_t number = a->activation_free;
	if (number) {
		a->activation_free = area_activation(a, number)->next;
		return number;
	}
	if (a->activation_used >= RT_ACTIVATIONS) {
		a->dropped++;
		return 0;
	}
	return ++a->activation_used;
}

/* The readings come last, so that they include little of our own time. */
static void push(struct hit *h, struct rt_stack *s, uint32_t path)
{
	uint32_t number = take(h->area), set = h->subject->metrics & METRICS_KNOWN;
	if (unlikely(!number))
		return;
	struct rt_activation *a = area_activation(h->area, number);
	a->subject = h->probe->subject;
	a->path = path;
	a->next = s->top;
	a->metrics = set;
	a->below_set = 0;
	a->cfa = h->cfa;
	area_subject(h->area, a->subject)->live++;
	s->top = number;
	for (; set; set &= set - 1)
		a->start[lowest(set)] = read_metric(h->area, lowest(set));
}

static uint32_t find_path(struct hit *h)
{
	uint32_t path;
	if (h->subject->flags & RT_PATH)
		path = walk_path(h);
	else
		path = path_of_subject(h, area_subject(h->area, h->probe->subject)->live);
	return likely(path) ? path : path_unknown(h);
}

/* Which of the other stacks we are on, the walk tells; it may give the path as well. */
static void enter_frame(struct hit *h)
{
	uint32_t path = likely(h->own) ? 0 : walk_path(h);
	struct rt_stack *s = choose_stack(h);
	if (s)
		pop_void(h, s);
	if (!path)
		path = find_path(h);
	if (unlikely(!path))
		return;
	area_path(h->area, path)->calls++;
	if (s)
		push(h, s, path);
}

void enter(struct hit *h)
{
	h->root = 0;
	if (h->subject->flags & RT_COUNT_ONLY) {
		uint32_t path = find_path(h);
		if (likely(path))
			area_path(h->area, path)->calls++;
		return;
	}
	if (unlikely(!h->cfa))
		return;
	begin_change(h->area);
	enter_frame(h);
	end_change(h->area);
}

/* The stack that the hit's activation is on, and its number; NULL if it is on none. */
static struct rt_stack *search(struct hit *h, uint32_t *number)
{
	for (uint32_t i = h->own ? 0 : 1; i < (h->own ? 1 : RT_STACKS); i++) {
		struct rt_stack *s = &h->area->stacks[i];
		*number = find_live(h, s);
		if (*number)
			return s;
	}
	return NULL;
}

void leave(struct hit *h)
{
	uint32_t number;
	read_metrics(h, h->subject->metrics);
	struct rt_stack *s = search(h, &number);
	if (!s)
		return;
	begin_change(h->area);
	pop_through(h, s, number);
	end_change(h->area);
}
