/* From a true experiment to those of its parts.
 *
 * A path of the search goes through one hierarchy before it takes the next one of its hypothesis:
 * when the part has no parts, or none of them was true. A root begins with all at once.
 *
 * A part of the machine that does what the whole does need not be searched along code again: its
 * only part (the one host, its one process, the one thread of that), and those in whose samples
 * nothing stands out that is not known of the whole. They are held back until that changes. */
#include "search/state.h"

static uint32_t reach(struct search *s, uint32_t from, const struct experiment *like, bool anew)
{
	uint32_t known = history_find(&s->history, like->hypothesis, &like->focus);
	if (known == EXPERIMENT_NONE) {
		known = schedule_new(s, like);
	} else {
		if (like->priority == PRIORITY_HIGH)
			schedule_raise(s, known);
		if (anew)
			schedule_again(s, known);
	}
	history_link(&s->history, from, known);
	return known;
}

/* What a refinement has of the one that it refines. */
static struct experiment heir(struct search *s, uint32_t number)
{
	const struct experiment *e = experiment_of(s, number);
	return (struct experiment){
		.hypothesis = e->hypothesis,
		.origin = ORIGIN_REFINED,
		.priority = e->priority,
		.axis = e->axis,
		.focus = e->focus,
		.hook = e->hook,
	};
}

static void release_held(struct search *s)
{
	vec_each (number, &s->held) {
		trial_of(s, *number)->held = false;
		vec_push(&s->history.exhausted, *number);
	}
	vec_clear(&s->held);
}

static void reach_part(struct search *s, uint32_t number, enum hierarchy axis, uint32_t part,
		       bool anew)
{
	struct experiment like = heir(s, number);
	if (part == like.focus.part[axis])
		return;
	if (axis == CODE && s->ops->concerns && !s->ops->concerns(s->ctx, like.hypothesis, part))
		return;
	if (axis == CODE && like.focus.part[CODE] == CODE)
		like.hook = number;
	like.focus.part[axis] = part;
	like.axis = (uint8_t)axis;
	reach(s, number, &like, anew);
	if (axis == MACHINE && trial_of(s, number)->all[MACHINE] == 2)
		release_held(s);
}

void refine_to(struct search *s, uint32_t number, enum hierarchy axis, uint32_t part)
{
	reach_part(s, number, axis, part, false);
}

static bool is_hook(const struct experiment *e, enum hierarchy axis)
{
	return axis == CODE && e->focus.part[CODE] == CODE;
}

static void wait_for_priming(struct search *s, uint32_t number)
{
	vec_each (known, &s->unprimed)
		if (*known == number)
			return;
	vec_push(&s->unprimed, number);
}

/* Returns false if it is too early. */
static bool refine_along(struct search *s, uint32_t number, enum hierarchy axis)
{
	const struct experiment *e = experiment_of(s, number);
	bool hook = is_hook(e, axis), anew = trial_of(s, number)->refined >> axis & 1;
	if (hook && s->now < s->started + s->options.priming) {
		wait_for_priming(s, number);
		return false;
	}
	if (hook && !anew)
		vec_push(&s->hooks, number);
	if (hook)
		vec_push(&s->unchosen, number);
	trial_of(s, number)->refined |= (uint8_t)(1u << axis);
	struct focus f = e->focus;
	resource_list parts = {0};
	s->ops->parts(s->ctx, &f, axis, &parts);
	vec_each (part, &parts)
		reach_part(s, number, axis, *part, anew);
	vec_free(&parts);
	return true;
}

static void specialise(struct search *s, uint32_t number)
{
	for (uint32_t h = 0; h < HYPOTHESES; h++) {
		struct experiment like = heir(s, number);
		if (hypotheses[h].general != like.hypothesis)
			continue;
		like.hypothesis = (uint8_t)h;
		reach(s, number, &like, trial_of(s, number)->refined);
	}
}

/* Whether something below it along the axis is true, or may be found so. */
static bool lives(struct search *s, uint32_t number, enum hierarchy axis)
{
	const struct trial *t = trial_of(s, number);
	return t->undecided[axis] || t->true_ones[axis];
}

/* Whether what it is the only part of is searched along the axis. */
static bool is_searched_above(struct search *s, uint32_t number, enum hierarchy axis)
{
	const struct experiment *e = experiment_of(s, number);
	while (e->axis == MACHINE && e->parents.len) {
		uint32_t whole = e->parents.data[0];
		const struct experiment *w = experiment_of(s, whole);
		if (w->hypothesis != e->hypothesis || trial_of(s, whole)->all[MACHINE] != 1)
			return false;
		if (w->axis == HIERARCHIES || trial_of(s, whole)->refined >> axis & 1)
			return true;
		e = w;
	}
	return false;
}

static bool hold(struct search *s, uint32_t number, enum hierarchy axis)
{
	struct trial *t = trial_of(s, number);
	if (!is_searched_above(s, number, axis) && (axis != CODE || starters_stand_out(s, number)))
		return false;
	if (!t->held)
		vec_push(&s->held, number);
	t->held = true;
	return true;
}

/* The path goes on along the first hierarchy behind its own that has something to offer. */
static void go_on(struct search *s, uint32_t number)
{
	const struct experiment *e = experiment_of(s, number);
	const struct hypothesis *h = &hypotheses[e->hypothesis];
	uint8_t axis = e->axis, i = 0;
	if (e->state != EXPERIMENT_TRUE || axis == HIERARCHIES || lives(s, number, axis))
		return;
	while (i < h->axes && h->axis[i] != axis)
		i++;
	for (i++; i < h->axes; i++) {
		enum hierarchy next = h->axis[i];
		if (hold(s, number, next))
			return;
		bool done = trial_of(s, number)->refined >> next & 1;
		if (!done && !refine_along(s, number, next))
			return;
		if (lives(s, number, next))
			return;
	}
}

static void refine_one(struct search *s, uint32_t number)
{
	const struct experiment *e = experiment_of(s, number);
	const struct hypothesis *h = &hypotheses[e->hypothesis];
	uint32_t hook = e->hook;
	uint8_t axis = e->axis;
	specialise(s, number);
	if (hook != EXPERIMENT_NONE)
		vec_push(&s->unchosen, hook);
	if (axis != HIERARCHIES) {
		refine_along(s, number, axis);
		go_on(s, number);
		return;
	}
	for (uint8_t i = 0; i < h->axes; i++)
		refine_along(s, number, h->axis[i]);
}

static void refine_primed(struct search *s)
{
	if (s->now < s->started + s->options.priming)
		return;
	for (uint32_t i = 0; i < s->unprimed.len; i++) {
		uint32_t number = s->unprimed.data[i];
		if (experiment_of(s, number)->state != EXPERIMENT_TRUE)
			continue;
		refine_along(s, number, CODE);
		go_on(s, number);
	}
	vec_clear(&s->unprimed);
}

static const double hold_time = 1; /* s until it is looked again whether they are like the whole */

void refine(struct search *s)
{
	if (s->now >= s->released + hold_time) {
		s->released = s->now;
		release_held(s);
	}
	for (uint32_t i = 0; i < s->found_true.len; i++) {
		const struct experiment *e = experiment_of(s, s->found_true.data[i]);
		if (e->state == EXPERIMENT_TRUE && !e->over)
			refine_one(s, s->found_true.data[i]);
	}
	vec_clear(&s->found_true);
	refine_primed(s);
	for (uint32_t i = 0; i < s->history.exhausted.len; i++)
		go_on(s, s->history.exhausted.data[i]);
	vec_clear(&s->history.exhausted);
}
