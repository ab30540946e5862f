/* Refines true experiments to the parts of their focus.
 *
 * A path of the search follows one hierarchy before it turns to the next one of its hypothesis. It
 * turns when a part has no parts, or none of them is true. A root is refined along all hierarchies
 * at once.
 *
 * A part of the machine that does the same as the whole need not be searched along the code again.
 * There are two cases:
 *
 *	1. It is the only part of the whole: the one host, its one process, the one thread of that.
 *	2. Its samples have no deep starter that is not known of the whole.
 *
 * Such experiments are held back until that changes. Threads to which a runtime gives work (OpenMP,
 * Go) are never searched alone: sixteen of them would take sixteen times as many experiments. */
#include "search/state.h"

/* Finds an experiment or schedules a new one, and makes it a refinement of `from`. If `again` is
 * set, an experiment that was false is tested again. */
static uint32_t find_or_schedule(struct search *s, uint32_t from, const struct experiment *like,
				 bool again)
{
	uint32_t known = history_find(&s->history, like->hypothesis, &like->focus);
	if (known == EXPERIMENT_NONE) {
		known = schedule_new(s, like);
	} else {
		if (like->priority == PRIORITY_HIGH)
			schedule_raise(s, known);
		if (again)
			schedule_again(s, known);
	}
	history_link(&s->history, from, known);
	return known;
}

/* Returns a new refinement with all that it has in common with the experiment that it refines. */
static struct experiment refinement_of(struct search *s, uint32_t number)
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

static void refine_to_part(struct search *s, uint32_t number, enum hierarchy axis, uint32_t part,
			   bool again)
{
	struct experiment like = refinement_of(s, number);
	if (part == like.focus.part[axis])
		return;
	if (axis == CODE && s->ops->concerns && !s->ops->concerns(s->ctx, like.hypothesis, part))
		return;
	if (axis == CODE && like.focus.part[CODE] == CODE)
		like.hook = number;
	like.focus.part[axis] = part;
	like.axis = (uint8_t)axis;
	find_or_schedule(s, number, &like, again);
	if (axis == MACHINE && trial_of(s, number)->all[MACHINE] == 2)
		release_held(s);
}

void refine_to(struct search *s, uint32_t number, enum hierarchy axis, uint32_t part)
{
	refine_to_part(s, number, axis, part, false);
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

/* Returns false if it is too early, before priming is over. */
static bool refine_along(struct search *s, uint32_t number, enum hierarchy axis)
{
	const struct experiment *e = experiment_of(s, number);
	bool hook = is_hook(e, axis), again = trial_of(s, number)->refined >> axis & 1;
	if (hook && s->now < s->started + s->options.priming) {
		wait_for_priming(s, number);
		return false;
	}
	if (hook && !again)
		vec_push(&s->hooks, number);
	if (hook)
		vec_push(&s->unchosen, number);
	trial_of(s, number)->refined |= (uint8_t)(1u << axis);
	struct focus f = e->focus;
	resource_list parts = {0};
	s->ops->parts(s->ctx, &f, axis, &parts);
	vec_each (part, &parts)
		refine_to_part(s, number, axis, *part, again);
	vec_free(&parts);
	return true;
}

/* Schedules the hypotheses that refine this one, at the same focus. */
static void specialise(struct search *s, uint32_t number)
{
	for (uint32_t h = 0; h < HYPOTHESES; h++) {
		struct experiment like = refinement_of(s, number);
		if (hypotheses[h].general != like.hypothesis)
			continue;
		like.hypothesis = (uint8_t)h;
		find_or_schedule(s, number, &like, trial_of(s, number)->refined);
	}
}

/* Returns true if a refinement along the axis is true, or not decided yet. */
static bool is_open(struct search *s, uint32_t number, enum hierarchy axis)
{
	const struct trial *t = trial_of(s, number);
	return t->undecided[axis] || t->true_ones[axis];
}

/* Returns true if it is the only part of a whole that is itself searched along the axis. */
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

/* Returns true if all along the code would be searched for one of many that do the same. */
static bool is_one_of_many(struct search *s, uint32_t number, enum hierarchy axis)
{
	const struct experiment *e = experiment_of(s, number);
	return axis == CODE && e->focus.part[CODE] == CODE && s->ops->alike &&
	       s->ops->alike(s->ctx, e->focus.part[MACHINE]);
}

static bool hold_back(struct search *s, uint32_t number, enum hierarchy axis)
{
	struct trial *t = trial_of(s, number);
	if (is_one_of_many(s, number, axis))
		return true;
	if (!is_searched_above(s, number, axis) && (axis != CODE || starters_stand_out(s, number)))
		return false;
	if (!t->held)
		vec_push(&s->held, number);
	t->held = true;
	return true;
}

/* If no refinement along its own hierarchy is left, the path continues along the first of the next
 * hierarchies that offers any. */
static void take_next_axis(struct search *s, uint32_t number)
{
	const struct experiment *e = experiment_of(s, number);
	const struct hypothesis *h = &hypotheses[e->hypothesis];
	uint8_t axis = e->axis, i = 0;
	if (e->state != EXPERIMENT_TRUE || axis == HIERARCHIES || is_open(s, number, axis))
		return;
	while (i < h->axes && h->axis[i] != axis)
		i++;
	for (i++; i < h->axes; i++) {
		enum hierarchy next = h->axis[i];
		if (hold_back(s, number, next))
			return;
		bool done = trial_of(s, number)->refined >> next & 1;
		if (!done && !refine_along(s, number, next))
			return;
		if (is_open(s, number, next))
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
		take_next_axis(s, number);
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
		take_next_axis(s, number);
	}
	vec_clear(&s->unprimed);
}

/* s until it is checked again whether held experiments still do the same as the whole. */
static const double hold_time = 1;

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
		take_next_axis(s, s->history.exhausted.data[i]);
	vec_clear(&s->history.exhausted);
}
