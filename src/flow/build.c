/* Builds a flow graph in rounds. A round follows direct control flow from what is known, then
 * decides indirect jumps on the graph as far as it is known. The targets of those jumps start the
 * next round, until a round finds nothing new. */
#include "flow/build.h"

#include "flow/builder.h"

/* Limits the rounds, by the blocks looked at in all of them. Real functions take a handful of
 * rounds; a hostile one must not take forever. */
enum { MAX_WORK = 20 * 1000 * 1000 };

static void release(struct builder *b)
{
	vec_each (jump, &b->jumps)
		vec_free(&jump->targets);
	vec_free(&b->jumps);
	vec_free(&b->runs);
	vec_free(&b->work);
	vec_free(&b->deferred);
}

const struct cfg *cfg_build(const struct build_env *env, struct arena *a, struct arena *tmp)
{
	struct builder b;
	uint32_t *runs = NULL;
	explore_init(&b, env, tmp);
	follow_all(&b);
	form_graph(&b, &runs);
	for (uint64_t work = 0; work < MAX_WORK && decide_jumps(&b, runs);
	     work += b.g.block_count) {
		follow_all(&b);
		form_graph(&b, &runs);
	}
	mark_open_frames(&b);
	form_tables(&b, runs, a);
	struct cfg *out = ARENA_NEW(a, struct cfg);
	*out = b.g;
	out->blocks = ARENA_DUP(a, b.g.blocks, b.g.block_count);
	out->edges = ARENA_DUP(a, b.g.edges, b.g.edge_count);
	out->first_pred = ARENA_DUP(a, b.g.first_pred, b.g.block_count + 1);
	out->pred_edges = ARENA_DUP(a, b.g.pred_edges, b.g.edge_count);
	release(&b);
	return out;
}

static bool follow_to_return(struct builder *b)
{
	while (follow_next(b))
		if (b->runs.len && vec_last(&b->runs).ends == END_RETURN)
			return true;
	return false;
}

/* Whether a call returns takes time to find out, and most functions have a return that no call has
 * to be passed for. */
bool cfg_reaches_return(const struct build_env *env, struct arena *tmp)
{
	struct builder b;
	explore_init(&b, env, tmp);
	b.deferring = true;
	bool found = follow_to_return(&b);
	while (!found && follow_deferred(&b))
		found = follow_to_return(&b);
	release(&b);
	return found;
}
