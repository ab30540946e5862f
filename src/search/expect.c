/* Expectations: whether samples support or contradict an experiment before it is measured. */
#include "search/state.h"

/* An experiment is likely if its share of the samples is at least this share of the threshold. */
static const double likely = 0.5;
static const double enough_to_doubt = 50; /* samples: with fewer, no experiment is doubted */

bool is_likely(struct search *s, const struct experiment *e)
{
	const struct count_graph *c = &s->graphs[hypotheses[e->hypothesis].samples];
	const struct count_part *p = count_graph_part(c, e->focus.part[MACHINE]);
	if (!s->options.deep_start || !p || !needs_probes(s, e))
		return false;
	double seen = count_graph_get(c, e->focus.part[MACHINE], e->focus.part[CODE], false);
	return seen >= likely * s->options.threshold[e->hypothesis] * p->count.all;
}

bool is_doubtful(struct search *s, uint32_t number)
{
	const struct experiment *e = experiment_of(s, number);
	const struct count_graph *c = &s->graphs[hypotheses[e->hypothesis].samples];
	const struct count_part *p = count_graph_part(c, e->focus.part[MACHINE]);
	return s->options.deep_start && needs_probes(s, e) && p &&
	       p->count.all >= enough_to_doubt && !trial_of(s, number)->expected &&
	       !is_likely(s, e);
}
