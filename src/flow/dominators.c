/* Immediate dominators by the semi-NCA algorithm (Georgiadis, Tarjan and Werneck, "Finding
 * dominators in practice", 2006). Semidominators are computed as by Lengauer and Tarjan, with
 * simple path compression; each immediate dominator is then the nearest common ancestor of the
 * parent and the semidominator.
 *
 * Nodes are numbered in depth-first preorder from a virtual root, which leads to the entry, to the
 * blocks without predecessors, and to blocks that neither reach. Nothing here recurses: a function
 * may have a chain of millions of blocks. */
#include "flow/loops.h"

enum { NO_NUMBER, VIRTUAL_ROOT };

struct dominator_state {
	const struct cfg *g;
	uint32_t *block;  /* number -> block */
	uint32_t *number; /* block -> number; NO_NUMBER: not reached yet */
	uint32_t *parent, *semi, *label, *ancestor, *idom; /* by number */
	uint32_t count;                                    /* highest number given */
	uint32_t *stack;
};

/* Numbers all blocks that `root` reaches and that have no number yet. */
static void number_from(struct dominator_state *s, uint32_t root, uint32_t *next_edge)
{
	if (s->number[root])
		return;
	uint32_t depth = 0;
	s->stack[depth++] = root;
	s->number[root] = ++s->count;
	s->block[s->count] = root;
	s->parent[s->count] = VIRTUAL_ROOT;
	while (depth) {
		const struct block *b = &s->g->blocks[s->stack[depth - 1]];
		uint32_t from = s->stack[depth - 1];
		if (next_edge[from] == b->edge_count) {
			depth--;
			continue;
		}
		uint32_t to = s->g->edges[b->first_edge + next_edge[from]++].to;
		if (s->number[to])
			continue;
		s->number[to] = ++s->count;
		s->block[s->count] = to;
		s->parent[s->count] = s->number[from];
		s->stack[depth++] = to;
	}
}

static void number_all(struct dominator_state *s, struct arena *tmp)
{
	const struct cfg *g = s->g;
	uint32_t *next_edge = ARENA_ARRAY(tmp, uint32_t, g->block_count);
	if (g->block_count)
		number_from(s, g->entry, next_edge);
	for (uint32_t b = 0; b < g->block_count; b++)
		if (g->first_pred[b] == g->first_pred[b + 1])
			number_from(s, b, next_edge);
	for (uint32_t b = 0; b < g->block_count; b++)
		number_from(s, b, next_edge);
}

/* The node with the smallest semidominator on v's path to the root of its tree in the forest, that
 * root excluded. Compresses the path. */
static uint32_t eval(struct dominator_state *s, uint32_t v)
{
	if (!s->ancestor[v])
		return v;
	uint32_t depth = 0;
	for (uint32_t u = v; s->ancestor[s->ancestor[u]]; u = s->ancestor[u])
		s->stack[depth++] = u;
	while (depth) {
		uint32_t u = s->stack[--depth], above = s->ancestor[u];
		if (s->semi[s->label[above]] < s->semi[s->label[u]])
			s->label[u] = s->label[above];
		s->ancestor[u] = s->ancestor[above];
	}
	return s->label[v];
}

static void find_semidominators(struct dominator_state *s)
{
	const struct cfg *g = s->g;
	for (uint32_t v = s->count; v > VIRTUAL_ROOT; v--) {
		uint32_t b = s->block[v];
		uint32_t best = s->parent[v];
		for (uint32_t i = g->first_pred[b]; i < g->first_pred[b + 1]; i++) {
			uint32_t u = eval(s, s->number[g->edges[g->pred_edges[i]].from]);
			if (s->semi[u] < best)
				best = s->semi[u];
		}
		s->semi[v] = best;
		s->ancestor[v] = s->parent[v];
	}
}

void dominators(const struct cfg *g, uint32_t *idom, struct arena *tmp)
{
	uint32_t n = g->block_count + 2;
	struct dominator_state s = {
		.g = g,
		.count = VIRTUAL_ROOT,
		.block = ARENA_ARRAY(tmp, uint32_t, n),
		.number = ARENA_ARRAY(tmp, uint32_t, n),
		.parent = ARENA_ARRAY(tmp, uint32_t, n),
		.semi = ARENA_ARRAY(tmp, uint32_t, n),
		.label = ARENA_ARRAY(tmp, uint32_t, n),
		.ancestor = ARENA_ARRAY(tmp, uint32_t, n),
		.idom = ARENA_ARRAY(tmp, uint32_t, n),
		.stack = ARENA_ARRAY(tmp, uint32_t, n),
	};
	for (uint32_t v = 0; v < n; v++)
		s.label[v] = s.semi[v] = v;
	number_all(&s, tmp);
	find_semidominators(&s);
	for (uint32_t v = VIRTUAL_ROOT + 1; v <= s.count; v++) {
		uint32_t d = s.parent[v];
		while (d > s.semi[v])
			d = s.idom[d];
		s.idom[v] = d;
		idom[s.block[v]] = d > VIRTUAL_ROOT ? s.block[d] : (uint32_t)BLOCK_NONE;
	}
}
