/* Backward data flow over the blocks, with a work list. */
#include "flow/effects.h"

static bool ends_in_call(const struct block *b)
{
	return b->end == END_CALL || b->end == END_CALL_INDIRECT;
}

static struct regset read_after(const struct backward *s, uint32_t b)
{
	const struct block *block = &s->g->blocks[b];
	struct regset live = s->ends[b];
	if (ends_in_call(block) && !s->past_calls)
		return live;
	for (uint32_t k = 0; k < block->edge_count; k++)
		live = regset_or(live, s->in[s->g->edges[block->first_edge + k].to]);
	return live;
}

void backward_spread(const struct backward *s, block_list *work)
{
	while (work->len) {
		uint32_t b = vec_pop(work);
		const struct effects *e = &s->effects[b];
		s->out[b] = read_after(s, b);
		struct regset live = regset_or(e->reads, regset_without(s->out[b], e->writes));
		live = regset_or(live, s->in[b]);
		if (regset_equal(live, s->in[b]))
			continue;
		s->in[b] = live;
		for (uint32_t k = s->g->first_pred[b]; k < s->g->first_pred[b + 1]; k++)
			vec_push(work, s->g->edges[s->g->pred_edges[k]].from);
	}
}

void backward_all(const struct cfg *g, block_list *work)
{
	for (uint32_t b = 0; b < g->block_count; b++)
		vec_push(work, b);
}

void backward_solve(const struct backward *s)
{
	block_list work = {0};
	backward_all(s->g, &work);
	backward_spread(s, &work);
	vec_free(&work);
}
