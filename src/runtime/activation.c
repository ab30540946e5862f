/* Begins and ends activations: the general case.
 *
 * The CFA shows which activations are void: those further down the stack than the current frame
 * were left by longjmp or by an exception. They end at the next hit, because nothing marked the
 * time when they were left. */
#include "runtime/activation.h"

static void pop_reading(struct rt_area *area, struct readings *r, struct rt_stack *s)
{
	struct rt_activation *a = area_activation(area, s->top);
	struct rt_activation *outer = outside(area, a);
	read_metrics(area, r, a->metrics);
	for (uint32_t set = a->metrics & METRICS_KNOWN; set; set &= set - 1)
		settle(area_path(area, a->path), r->now[lowest(set)], a, outer, lowest(set));
	pass_on(a, outer);
	pop(area, s, a);
}

/* Ends activations up to and including `last` (a number). */
static void pop_through(struct rt_area *area, struct readings *r, struct rt_stack *s, uint32_t last)
{
	for (uint32_t i = 0; i < RT_ACTIVATIONS && s->top; i++) {
		bool done = s->top == last;
		pop_reading(area, r, s);
		if (done)
			return;
	}
}

/* The number of the activation of the hit's subject in the hit's frame; 0: none. */
static uint32_t find_live(const struct hit *h, const struct rt_stack *s)
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

/* Ends the activations that cannot be running when the subject begins. A loop may begin in a frame
 * that has other loops, but not inside itself. */
static void pop_void(const struct hit *h, struct readings *r, struct rt_stack *s)
{
	bool loop = h->subject->flags & RT_LOOP;
	uint32_t before = loop ? find_live(h, s) : 0;
	if (before)
		pop_through(h->area, r, s, before);
	for (uint32_t i = 0; s->top && i < RT_ACTIVATIONS; i++) {
		uint64_t cfa = area_activation(h->area, s->top)->cfa;
		if (cfa > h->cfa || (loop && cfa == h->cfa))
			return;
		pop_reading(h->area, r, s);
	}
}

/* Whether this hit begins nothing because the activation is still running. Control also gets to
 * this place when a loop iterates by an indirect jump that enters its header, too. (An activation
 * that longjmp or an exception left in a frame at the same address is taken for a running one.) */
static bool is_still_running(const struct hit *h, const struct rt_stack *s)
{
	return h->probe->unless_active && find_live(h, s);
}

static struct rt_stack *choose_stack(const struct hit *h, uint64_t root)
{
	struct rt_area *a = h->area;
	struct rt_stack *spare = NULL;
	if (h->own)
		return &a->stacks[0];
	for (uint32_t i = 1; i < RT_STACKS; i++) {
		struct rt_stack *s = &a->stacks[i];
		if (s->top && s->root == root)
			return s;
		if (!s->top && !spare)
			spare = s;
	}
	if (spare)
		spare->root = root;
	else
		a->dropped++;
	return spare;
}

/* Takes a free activation and returns its number; 0: none. */
static uint32_t take_free_activation(struct rt_area *a)
{
	uint32_t number = a->activation_free;
	if (number) {
		a->activation_free = area_activation(a, number)->next;
		return number;
	}
	if (a->activation_used < RT_ACTIVATIONS)
		return ++a->activation_used;
	a->dropped++;
	return 0;
}

static inline uint32_t find_path(const struct hit *h)
{
	uint32_t path = h->subject->flags & RT_PATH ? walk_here(h).path : path_of_subject(h);
	return path ? path : path_unknown(h);
}

/* On a stack other than the thread's own, a walk is needed to find out which one it is. */
static inline void begin_activation(const struct hit *h, struct readings *r)
{
	struct rooted_path found = {0, 0};
	if (!h->own)
		found = walk_here(h);
	struct rt_stack *s = choose_stack(h, found.root);
	if (s && is_still_running(h, s))
		return;
	if (s)
		pop_void(h, r, s);
	uint32_t path = found.path ? found.path : find_path(h);
	if (!path)
		return;
	uint32_t number = s ? take_free_activation(h->area) : 0;
	if (!number) {
		area_path(h->area, path)->calls++;
		return;
	}
	struct rt_activation *a = area_activation(h->area, number);
	push(*h, s, a, number, path, false);
	for (uint32_t set = a->metrics; set; set &= set - 1)
		a->start[lowest(set)] = read_metric(h->area, lowest(set));
	a->quick = can_read_quickly(h->area, a->metrics);
}

void enter(const struct hit *h, struct readings *r)
{
	if (h->subject->flags & RT_COUNT_ONLY) {
		uint32_t path = find_path(h);
		if (path)
			area_path(h->area, path)->calls++;
	} else if (h->cfa) {
		begin_change();
		begin_activation(h, r);
		end_change(h->area);
	}
}

/* The stack that has an activation of the hit's subject in the hit's frame, and its number; NULL if
 * there is none. */
static struct rt_stack *find_stack(const struct hit *h, uint32_t *number)
{
	for (uint32_t i = h->own ? 0 : 1; i < (h->own ? 1 : RT_STACKS); i++) {
		struct rt_stack *s = &h->area->stacks[i];
		*number = find_live(h, s);
		if (*number)
			return s;
	}
	return NULL;
}

bool is_active(const struct hit *h)
{
	uint32_t number;
	return find_stack(h, &number);
}

bool leave(const struct hit *h, struct readings *r)
{
	uint32_t number;
	read_metrics(h->area, r, h->subject->metrics);
	struct rt_stack *s = find_stack(h, &number);
	if (!s)
		return false;
	begin_change();
	pop_through(h->area, r, s, number);
	end_change(h->area);
	return true;
}
