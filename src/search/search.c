#include "search/search.h"

#include "base/check.h"
#include "search/state.h"

/* New parts of a hierarchy per second; more of them are ignored until the second is over. */
static const uint32_t most_new_parts = 20;

const struct search_options search_defaults = {
	.deep_start = true,
	.deep_threshold = 0.4,
	.priming = 0.3,
	.max_overhead = 0.05,
	.most_active = 16,
};

struct search *search_new(const struct search_options *o, const struct program_ops *ops, void *ctx)
{
	struct search *s = xcalloc(1, sizeof(*s));
	s->options = *o;
	s->ops = ops;
	s->ctx = ctx;
	for (uint32_t i = 0; i < HYPOTHESES; i++)
		if (s->options.threshold[i] <= 0)
			s->options.threshold[i] = hypotheses[i].threshold;
	resources_init(&s->resources);
	return s;
}

void search_free(struct search *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < SAMPLE_CLASSES; i++)
		count_graph_release(&s->graphs[i]);
	history_release(&s->history);
	resources_release(&s->resources);
	vec_free(&s->found_true);
	vec_free(&s->unprimed);
	vec_free(&s->held);
	vec_free(&s->hooks);
	vec_free(&s->unchosen);
	vec_free(&s->measured);
	vec_free(&s->ready);
	vec_free(&s->free);
	vec_free(&s->waiting);
	free(s);
}

struct resources *search_resources(struct search *s)
{
	return &s->resources;
}

void search_sample(struct search *s, const struct stack_sample *x)
{
	count_graph_add(&s->graphs[x->class], &s->resources, x);
}

/* ---- new parts ---- */

static bool too_many(struct search *s, enum hierarchy h)
{
	struct new_parts *n = &s->new_parts[h];
	if (s->now >= n->since + 1) {
		n->since = s->now;
		n->count = 0;
	}
	if (h == CODE || n->count++ < most_new_parts)
		return false;
	n->ignored++;
	return true;
}

void search_part(struct search *s, enum hierarchy h, uint32_t whole, uint32_t part)
{
	if (too_many(s, h))
		return;
	uint32_t end = s->history.list.len;
	for (uint32_t i = history_first(&s->history, whole); i < end; i = trial_of(s, i)->next[h]) {
		const struct experiment *e = experiment_of(s, i);
		if (e->state == EXPERIMENT_TRUE && !e->over && trial_of(s, i)->refined >> h & 1)
			refine_to(s, i, h, part);
	}
}

uint64_t search_ignored(const struct search *s, enum hierarchy h)
{
	return s->new_parts[h].ignored;
}

/* ---- turns ---- */

static void begin_roots(struct search *s)
{
	for (uint32_t i = 0; i < HYPOTHESES; i++) {
		struct experiment root = {.hypothesis = (uint8_t)i,
					  .origin = ORIGIN_ROOT,
					  .axis = HIERARCHIES,
					  .focus = focus_whole(),
					  .hook = EXPERIMENT_NONE};
		bool measured =
			!s->ops->measures || s->ops->measures(s->ctx, (enum hypothesis_id)i);
		if (hypotheses[i].general == HYPOTHESIS_NONE && measured)
			schedule_new(s, &root);
	}
}

static void advance(struct search *s, double now)
{
	if (!s->running)
		s->started = s->now = now;
	s->before = s->now;
	s->now = now;
	for (uint32_t i = 0; i < SAMPLE_CLASSES; i++)
		count_graph_advance(&s->graphs[i], now);
	if (!s->running)
		begin_roots(s);
	s->running = true;
}

static void commit(struct search *s)
{
	if (s->changed && checks_wanted())
		history_check(&s->history);
	if (s->changed)
		s->ops->commit(s->ctx);
	s->changed = false;
}

void search_turn(struct search *s, double now)
{
	advance(s, now);
	observe(s);
	refine(s);
	choose_starters(s);
	schedule(s);
	commit(s);
}

void search_finish(struct search *s, double now)
{
	advance(s, now);
	observe(s);
	vec_each (number, &s->measured)
		schedule_end(s, *number);
	vec_clear(&s->measured);
	for (uint32_t i = 0; i < s->history.list.len; i++) {
		uint8_t state = experiment_of(s, i)->state;
		if (state == EXPERIMENT_READY || state == EXPERIMENT_ACTIVE)
			history_set(&s->history, i, EXPERIMENT_UNKNOWN);
	}
	commit(s);
}

uint32_t search_count(const struct search *s)
{
	return s->history.list.len;
}

const struct experiment *search_get(const struct search *s, uint32_t experiment)
{
	return &s->history.list.data[experiment];
}
