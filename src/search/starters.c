/* Deep starters (Roth and Miller, sections 3.2 and 3.3): experiments are made at once on code with
 * many samples, far below the experiments that the call graph has led to so far. Connecting
 * experiments link the two, so that the history keeps the shape of the call graph. They are tested
 * like any other, so it is also known what is true above a starter.
 *
 * Beyond the paper: samples also decide which refinements are tested first, and experiments that
 * they contradict are tested by samples alone. Once per second, starters are chosen again from the
 * samples of the last seconds, to follow a program that enters another phase. By then there are
 * many samples, and few starters are left to find, so a lower share of samples is enough: the
 * threshold of the hypothesis. */
#include "search/state.h"

static const double choose_period = 1; /* s between choices for all hooks */
/* A starter that was false is tested again if its samples per second have grown by this factor. */
static const double much_more = 1.5;

/* Marks an experiment as likely to be true: it is a starter, or leads to one, or samples support
 * it. */
static void expect(struct search *s, uint32_t number)
{
	trial_of(s, number)->expected = true;
	schedule_rank(s, number);
}

/* Returns the caller with most samples on its edge to the node, or COUNT_NONE. Code that `below` is
 * about is left out, because it would close a cycle. */
static uint32_t caller_of(struct search *s, const struct count_graph *c, uint32_t node,
			  const experiment_list *below)
{
	const struct count_edge *best = NULL;
	for (uint32_t i = c->nodes.data[node].first_in; i != COUNT_NONE;
	     i = c->edges.data[i].next_in) {
		const struct count_edge *edge = &c->edges.data[i];
		uint32_t code = c->nodes.data[edge->from].resource;
		bool loops = false;
		vec_each (b, below)
			loops |= experiment_of(s, *b)->focus.part[CODE] == code;
		if (!loops && (!best || edge->all > best->all ||
			       (edge->all == best->all && edge->from < best->from)))
			best = edge;
	}
	return best ? best->from : (uint32_t)COUNT_NONE;
}

static struct experiment experiment_below(struct search *s, uint32_t hook, uint32_t code)
{
	struct experiment like = {
		.hypothesis = experiment_of(s, hook)->hypothesis,
		.axis = CODE,
		.focus = experiment_of(s, hook)->focus,
		.hook = hook,
	};
	like.focus.part[CODE] = code;
	return like;
}

/* Makes connecting experiments from a starter upwards, along the edges with most samples, to an
 * experiment that exists. */
static void connect(struct search *s, const struct count_graph *c, uint32_t hook, uint32_t starter)
{
	experiment_list below = {0};
	uint32_t at = starter, parent = EXPERIMENT_NONE;
	uint32_t node = hashmap_get(&c->node_index, experiment_of(s, at)->focus.part[CODE]);
	while (parent == EXPERIMENT_NONE) {
		vec_push(&below, at);
		node = caller_of(s, c, node, &below);
		if (node == COUNT_NONE) {
			parent = hook;
			break;
		}
		struct experiment like = experiment_below(s, hook, c->nodes.data[node].resource);
		like.origin = ORIGIN_CONNECTING;
		parent = history_find(&s->history, like.hypothesis, &like.focus);
		if (parent == EXPERIMENT_NONE) {
			uint32_t above = schedule_new(s, &like);
			history_link(&s->history, above, at);
			at = above;
		}
	}
	history_link(&s->history, parent, at);
	vec_push(&below, parent);
	vec_each (b, &below) {
		if (experiment_of(s, parent)->priority == PRIORITY_HIGH)
			schedule_raise(s, *b);
		expect(s, *b);
	}
	vec_free(&below);
}

/* Raises the priority of a starter that is known. One that was false is tested again if it is
 * sampled more often now. */
static void start_again(struct search *s, const struct count_graph *c, uint32_t number)
{
	const struct experiment *e = experiment_of(s, number);
	double rate = count_graph_rate(c, e->focus.part[MACHINE], e->focus.part[CODE]);
	schedule_raise(s, number);
	expect(s, number);
	if (rate > much_more * trial_of(s, number)->sampled_at)
		schedule_again(s, number);
}

static void start_at(struct search *s, const struct count_graph *c, uint32_t hook, uint32_t code)
{
	struct experiment like = experiment_below(s, hook, code);
	like.origin = ORIGIN_STARTER;
	like.priority = PRIORITY_HIGH;
	uint32_t known = history_find(&s->history, like.hypothesis, &like.focus);
	if (known == EXPERIMENT_NONE)
		connect(s, c, hook, schedule_new(s, &like));
	else
		start_again(s, c, known);
}

static void choose_for_hook(struct search *s, uint32_t hook, bool recent)
{
	const struct experiment *e = experiment_of(s, hook);
	struct count_graph *c = &s->graphs[hypotheses[e->hypothesis].samples];
	if (e->state != EXPERIMENT_TRUE || e->over)
		return;
	resource_list starters = {0};
	double share = s->options.deep_threshold, enough = s->options.threshold[e->hypothesis];
	count_graph_deepest(c, e->focus.part[MACHINE], recent && enough < share ? enough : share,
			    recent, &starters);
	vec_each (code, &starters)
		start_at(s, c, hook, *code);
	vec_free(&starters);
}

bool starters_stand_out(struct search *s, uint32_t number)
{
	const struct experiment *e = experiment_of(s, number);
	struct count_graph *c = &s->graphs[hypotheses[e->hypothesis].samples];
	struct focus whole = e->focus;
	bool more = e->focus.part[MACHINE] == MACHINE;
	resource_list starters = {0};
	count_graph_deepest(c, e->focus.part[MACHINE], s->options.deep_threshold, false, &starters);
	whole.part[MACHINE] = MACHINE;
	vec_each (code, &starters) {
		whole.part[CODE] = *code;
		uint32_t known = history_find(&s->history, e->hypothesis, &whole);
		more |= known == EXPERIMENT_NONE ||
			experiment_of(s, known)->state == EXPERIMENT_FALSE;
	}
	vec_free(&starters);
	return more;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

/* By now, samples may support experiments that they did not support when these were made. */
static void expect_more(struct search *s)
{
	for (uint32_t i = 0, n = s->ready.len; i < n; i++) {
		uint32_t number = (uint32_t)s->ready.data[i];
		const struct experiment *e = experiment_of(s, number);
		if (e->state == EXPERIMENT_READY && !trial_of(s, number)->expected &&
		    is_likely(s, e))
			expect(s, number);
	}
}

void choose_starters(struct search *s)
{
	experiment_list *list = &s->unchosen;
	if (!s->options.deep_start) {
		vec_clear(list);
		return;
	}
	if (list->len)
		qsort(list->data, list->len, sizeof(*list->data), by_number);
	for (uint32_t i = 0; i < list->len; i++)
		if (i == 0 || list->data[i] != list->data[i - 1])
			choose_for_hook(s, list->data[i], false);
	vec_clear(list);
	if (s->now < s->chosen + choose_period)
		return;
	s->chosen = s->now;
	expect_more(s);
	for (uint32_t i = 0; i < s->hooks.len; i++)
		choose_for_hook(s, s->hooks.data[i], true);
}
