/* Turns readings into observations, and observations into decisions. After the decision, a true
 * experiment is watched as long as it is measured, and a root always: if the last seconds clearly
 * contradict the decision, the program does something else now. */
#include "search/state.h"

static const double most_time = 2.5; /* s of testing after which the mean decides */
/* With less base than mean_base, the mean is chance: a program that hardly gets a CPU is tested for
 * longer. */
static const double mean_base = 0.5, most_time_starved = 10; /* s */
static const double least_base = 0.02; /* s: a smaller base is added to the next observation */

static void read_one(struct search *s, uint32_t number)
{
	struct experiment *e = experiment_of(s, number);
	struct trial *t = trial_of(s, number);
	struct reading r = t->last;
	s->ops->read(s->ctx, number, &r);
	/* Samples measure differently from probes: after a switch to them, everything since the
	 * beginning is read again. */
	bool switched = r.sampled && !t->last.sampled && t->test.observations;
	double amount = r.amount - (switched ? 0 : t->last.amount);
	double base = r.base - (switched ? 0 : t->last.base);
	e->observed += s->now - s->before;
	t->tested += s->now - s->before;
	e->sampled = r.sampled;
	e->overhead = t->former_overhead + r.overhead;
	t->last.overhead = r.overhead;
	t->overhead = s->now > t->since ? r.overhead / (s->now - t->since) : 0;
	if (base < least_base)
		return;
	if (switched) {
		t->test = (struct test){0};
		t->recent = (struct recent){0};
	}
	t->last = r;
	test_add(&t->test, amount, base);
	recent_add(&t->recent, s->now, amount, base);
	e->value = test_value(&t->test);
}

static double sample_rate(struct search *s, const struct experiment *e)
{
	const struct count_graph *c = &s->graphs[hypotheses[e->hypothesis].samples];
	return count_graph_rate(c, e->focus.part[MACHINE], e->focus.part[CODE]);
}

static void record_decision(struct search *s, uint32_t number, bool is_true, bool unsure)
{
	struct experiment *e = experiment_of(s, number);
	struct trial *t = trial_of(s, number);
	e->decided = s->now;
	e->tests++;
	e->unsure = unsure;
	e->over = false;
	e->confidence = test_confidence(&t->test, e->threshold);
	t->sampled_at = sample_rate(s, e);
	history_set(&s->history, number, is_true ? EXPERIMENT_TRUE : EXPERIMENT_FALSE);
	if (is_true)
		vec_push(&s->found_true, number);
	else if (!is_root(e))
		schedule_end(s, number);
}

/* Returns true if there is nothing to measure though the program runs: for instance, a thread only
 * waits for others to end. */
static bool is_idle(struct search *s, uint32_t number)
{
	if (trial_of(s, number)->test.base > 0)
		return false;
	vec_each (parent, &experiment_of(s, number)->parents)
		if (recent_sum(&trial_of(s, *parent)->recent, s->now).base >= mean_base)
			return true;
	return false;
}

static void decide(struct search *s, uint32_t number)
{
	const struct experiment *e = experiment_of(s, number);
	const struct trial *t = trial_of(s, number);
	int verdict = test_verdict(&t->test, e->threshold);
	bool starved = t->test.base < mean_base && !is_idle(s, number);
	double most = starved ? most_time_starved : most_time;
	if (!verdict && t->tested < most)
		return;
	bool is_true = verdict ? verdict > 0 : t->test.base > 0 && e->value >= e->threshold;
	if (is_true && t->by_samples)
		schedule_probes(s, number);
	else
		record_decision(s, number, is_true, !verdict);
}

/* Marks an experiment as no longer true. What the program does instead may be in parts of its
 * parents that were false, so the parents are refined again. */
static void mark_over(struct search *s, uint32_t number)
{
	struct experiment *e = experiment_of(s, number);
	e->over = true;
	vec_each (p, &e->parents) {
		const struct experiment *parent = experiment_of(s, *p);
		if (parent->state == EXPERIMENT_TRUE && !parent->over)
			vec_push(&s->found_true, *p);
	}
}

/* Decides a root again, by the last seconds alone. */
static void decide_by_recent(struct search *s, uint32_t number, const struct test *recent,
			     bool is_true)
{
	trial_of(s, number)->test = *recent;
	experiment_of(s, number)->value = test_value(recent);
	record_decision(s, number, is_true, false);
}

static void watch(struct search *s, uint32_t number)
{
	struct experiment *e = experiment_of(s, number);
	const struct trial *t = trial_of(s, number);
	struct test recent = recent_sum(&t->recent, s->now);
	int verdict = test_verdict(&recent, e->threshold);
	/* The decision is unsure if the mean contradicts it, even if not clearly. */
	e->unsure |= !e->over && (e->value >= e->threshold) != (e->state == EXPERIMENT_TRUE);
	if (e->state == EXPERIMENT_FALSE) {
		if (verdict > 0)
			decide_by_recent(s, number, &recent, true);
		return;
	}
	if (e->unsure && test_verdict(&t->test, e->threshold) > 0) {
		e->unsure = false;
		e->confidence = test_confidence(&t->test, e->threshold);
	}
	if (verdict < 0 && !e->over) {
		mark_over(s, number);
	} else if (verdict > 0 && e->over) {
		e->over = false;
		vec_push(&s->found_true, number);
	} else if (e->over && is_root(e) && e->value < e->threshold) {
		decide_by_recent(s, number, &recent, false); /* its mean is too small as well */
	}
}

void observe(struct search *s)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < s->measured.len; i++) {
		uint32_t number = s->measured.data[i];
		read_one(s, number);
		if (experiment_of(s, number)->state == EXPERIMENT_ACTIVE)
			decide(s, number);
		else
			watch(s, number);
		if (experiment_of(s, number)->measured)
			s->measured.data[kept++] = number;
	}
	s->measured.len = kept;
}
