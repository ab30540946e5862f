/* Dominators and loops against their definitions, applied naively, on random graphs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "flow/loops.h"

enum { MAX_BLOCKS = 14, MAX_EDGES = 40, GRAPHS = 20000 };

typedef uint32_t set; /* of blocks */

struct graph {
	struct block blocks[MAX_BLOCKS];
	struct edge edges[MAX_EDGES];
	uint32_t preds[MAX_EDGES], first_pred[MAX_BLOCKS + 1];
	struct cfg g;
};

static uint64_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % n;
}

static int by_from(const void *x, const void *y)
{
	const struct edge *a = x, *b = y;
	return a->from < b->from ? -1 : a->from > b->from;
}

static void index_edges(struct graph *g, uint32_t blocks, uint32_t edges)
{
	qsort(g->edges, edges, sizeof(g->edges[0]), by_from);
	memset(g->blocks, 0, sizeof(g->blocks));
	for (uint32_t b = 0, e = 0; b < blocks; b++) {
		g->blocks[b].start = b * 4;
		g->blocks[b].first_edge = e;
		while (e < edges && g->edges[e].from == b)
			e++;
		g->blocks[b].edge_count = e - g->blocks[b].first_edge;
	}
	uint32_t at = 0;
	for (uint32_t b = 0; b < blocks; b++) {
		g->first_pred[b] = at;
		for (uint32_t e = 0; e < edges; e++)
			if (g->edges[e].to == b)
				g->preds[at++] = e;
	}
	g->first_pred[blocks] = at;
	g->g = (struct cfg){.blocks = g->blocks,
			    .edges = g->edges,
			    .pred_edges = g->preds,
			    .first_pred = g->first_pred,
			    .block_count = blocks,
			    .edge_count = edges};
}

static void random_graph(struct graph *g)
{
	uint32_t blocks = 1 + random_below(MAX_BLOCKS), edges = random_below(2 * blocks + 3);
	for (uint32_t e = 0; e < edges; e++)
		g->edges[e] =
			(struct edge){.from = random_below(blocks), .to = random_below(blocks)};
	index_edges(g, blocks, edges);
	g->g.entry = random_below(blocks);
}

/* What `from` reaches without entering `avoid`, over the edges that `usable` allows (NULL: all). */
static set reach(const struct cfg *g, set from, set avoid, const bool *usable)
{
	set seen = from & ~avoid;
	for (bool grown = true; grown;) {
		grown = false;
		for (uint32_t e = 0; e < g->edge_count; e++) {
			set to = 1u << g->edges[e].to;
			if ((!usable || usable[e]) && seen >> g->edges[e].from & 1 &&
			    !(to & (seen | avoid))) {
				seen |= to;
				grown = true;
			}
		}
	}
	return seen;
}

static set roots_of(const struct cfg *g)
{
	set roots = 1u << g->entry;
	for (uint32_t b = 0; b < g->block_count; b++)
		if (g->first_pred[b] == g->first_pred[b + 1])
			roots |= 1u << b;
	for (uint32_t b = 0; b < g->block_count; b++)
		if (!(reach(g, roots, 0, NULL) >> b & 1))
			roots |= 1u << b;
	return roots;
}

/* dominated[d]: the blocks that cannot be reached once d is taken away, and d. */
static void naive_dominators(const struct cfg *g, set *dominated)
{
	set roots = roots_of(g), all = (1u << g->block_count) - 1;
	for (uint32_t d = 0; d < g->block_count; d++)
		dominated[d] = all & ~reach(g, roots, 1u << d, NULL);
}

static void dominators_are_as_defined(void **state)
{
	(void)state;
	struct graph g;
	struct arena tmp;
	arena_init(&tmp);
	for (int round = 0; round < GRAPHS; round++) {
		random_graph(&g);
		set dominated[MAX_BLOCKS];
		uint32_t idom[MAX_BLOCKS];
		naive_dominators(&g.g, dominated);
		dominators(&g.g, idom, &tmp);
		for (uint32_t b = 0; b < g.g.block_count; b++) {
			/* The nearest strict dominator is the one that dominates fewest blocks. */
			uint32_t nearest = BLOCK_NONE;
			for (uint32_t d = 0; d < g.g.block_count; d++)
				if (d != b && dominated[d] >> b & 1 &&
				    (nearest == BLOCK_NONE || dominated[nearest] >> d & 1))
					nearest = d;
			assert_int_equal(idom[b], nearest);
		}
		arena_clear(&tmp);
	}
	arena_release(&tmp);
}

struct naive_loop {
	set members;
	uint32_t header;
	bool irreducible;
};

struct naive_loops {
	struct naive_loop loops[2 * MAX_BLOCKS];
	uint32_t count;
};

/* All that reaches the sources of back edges to h without passing h. */
static void naive_natural_loop(const struct cfg *g, const bool *back, uint32_t h,
			       struct naive_loops *out)
{
	set members = 0;
	for (uint32_t e = 0; e < g->edge_count; e++) {
		if (!back[e] || g->edges[e].to != h)
			continue;
		members |= 1u << h;
		for (uint32_t b = 0; b < g->block_count; b++)
			if (b != h && reach(g, 1u << b, 1u << h, NULL) >> g->edges[e].from & 1)
				members |= 1u << b;
	}
	if (members)
		out->loops[out->count++] = (struct naive_loop){.members = members, .header = h};
}

static set naive_region(const struct cfg *g, const bool *forward, uint32_t b)
{
	set region = 0, after = reach(g, 1u << b, 0, forward);
	for (uint32_t x = 0; x < g->block_count; x++)
		if (after >> x & 1 && reach(g, 1u << x, 0, forward) >> b & 1)
			region |= 1u << x;
	return region;
}

static void naive_find(const struct cfg *g, struct naive_loops *out)
{
	set dominated[MAX_BLOCKS];
	bool back[MAX_EDGES], forward[MAX_EDGES];
	out->count = 0;
	naive_dominators(g, dominated);
	for (uint32_t e = 0; e < g->edge_count; e++) {
		back[e] = dominated[g->edges[e].to] >> g->edges[e].from & 1;
		forward[e] = !back[e];
	}
	for (uint32_t h = 0; h < g->block_count; h++)
		naive_natural_loop(g, back, h, out);
	uint32_t natural = out->count;
	set done = 0;
	for (uint32_t b = 0; b < g->block_count; b++) {
		set region = naive_region(g, forward, b), whole = region;
		if (done >> b & 1 || !(region & (region - 1)))
			continue;
		done |= region;
		for (uint32_t i = 0; i < natural; i++)
			if (region >> out->loops[i].header & 1 && region & ~out->loops[i].members)
				whole |= out->loops[i].members;
		out->loops[out->count++] =
			(struct naive_loop){.members = whole, .irreducible = true};
	}
}

static set members_of(const struct loop_forest *f, const struct loop *l)
{
	set s = 0;
	for (uint32_t i = 0; i < l->block_count; i++)
		s |= 1u << f->blocks[l->first_block + i];
	return s;
}

static bool is_entered(const struct cfg *g, set members, uint32_t b)
{
	for (uint32_t e = 0; e < g->edge_count; e++)
		if (g->edges[e].to == b && !(members >> g->edges[e].from & 1))
			return true;
	return false;
}

static bool listed(const struct loop_forest *f, uint32_t first, uint32_t count, uint32_t edge)
{
	for (uint32_t i = 0; i < count; i++)
		if (f->edges[first + i] == edge)
			return true;
	return false;
}

/* Whether some loop inside this one holds both ends of the edge. */
static bool is_inner(const struct loop_forest *f, uint32_t loop, const struct edge *e)
{
	for (uint32_t i = loop + 1; i < f->loop_count; i++) {
		set inner = members_of(f, &f->loops[i]);
		if (f->loops[i].parent == loop && inner >> e->from & 1 && inner >> e->to & 1)
			return true;
	}
	return false;
}

static void check_edges(const struct cfg *g, const struct loop_forest *f, uint32_t loop)
{
	const struct loop *l = &f->loops[loop];
	set members = members_of(f, l);
	uint32_t entries = 0, exits = 0, backs = 0;
	for (uint32_t e = 0; e < g->edge_count; e++) {
		const struct edge *x = &g->edges[e];
		bool from = members >> x->from & 1, to = members >> x->to & 1;
		bool repeats =
			from && to && !is_inner(f, loop, x) &&
			(l->irreducible ? is_entered(g, members, x->to) : x->to == l->header);
		assert_int_equal(listed(f, l->first_entry, l->entry_count, e), !from && to);
		assert_int_equal(listed(f, l->first_exit, l->exit_count, e), from && !to);
		assert_int_equal(listed(f, l->first_back, l->back_count, e), repeats);
		entries += !from && to;
		exits += from && !to;
		backs += repeats;
	}
	assert_int_equal(l->entry_count, entries);
	assert_int_equal(l->exit_count, exits);
	assert_int_equal(l->back_count, backs);
}

/* The naive loop with the same members. */
static const struct naive_loop *find_naive(const struct naive_loops *n, set members)
{
	for (uint32_t i = 0; i < n->count; i++)
		if (n->loops[i].members == members)
			return &n->loops[i];
	return NULL;
}

static uint32_t naive_depth(const struct naive_loops *n, set members)
{
	uint32_t depth = 0;
	for (uint32_t i = 0; i < n->count; i++)
		depth += (members & ~n->loops[i].members) == 0;
	return depth;
}

static void check_forest(const struct cfg *g, const struct loop_forest *f)
{
	struct naive_loops naive;
	naive_find(g, &naive);
	assert_int_equal(f->loop_count, naive.count);
	set innermost_of[MAX_BLOCKS] = {0};
	for (uint32_t i = 0; i < f->loop_count; i++) {
		const struct loop *l = &f->loops[i];
		set members = members_of(f, l);
		const struct naive_loop *n = find_naive(&naive, members);
		assert_non_null(n);
		assert_int_equal(l->irreducible, n->irreducible);
		if (!l->irreducible)
			assert_int_equal(l->header, n->header);
		else if (l->entry_count)
			assert_true(is_entered(g, members, l->header));
		assert_int_equal(l->depth, naive_depth(&naive, members));
		if (l->parent != LOOP_NONE) {
			assert_true(l->parent < i);
			assert_int_equal(members & ~members_of(f, &f->loops[l->parent]), 0);
			assert_int_equal(f->loops[l->parent].depth + 1, l->depth);
		}
		check_edges(g, f, i);
		for (uint32_t b = 0; b < g->block_count; b++) /* deeper loops come later */
			if (members >> b & 1)
				innermost_of[b] = members;
	}
	for (uint32_t b = 0; b < g->block_count; b++) {
		uint32_t l = f->innermost[b];
		assert_int_equal(l == LOOP_NONE ? 0 : members_of(f, &f->loops[l]), innermost_of[b]);
	}
}

static void loops_are_as_defined(void **state)
{
	(void)state;
	struct graph g;
	struct arena a, tmp;
	arena_init(&a);
	arena_init(&tmp);
	for (int round = 0; round < GRAPHS; round++) {
		struct loop_forest f;
		random_graph(&g);
		loops_find(&g.g, &f, &a, &tmp);
		check_forest(&g.g, &f);
		arena_clear(&a);
		arena_clear(&tmp);
	}
	arena_release(&a);
	arena_release(&tmp);
}

/* A million blocks in a row inside one loop: nothing may recurse. */
static void long_chains_do_not_overflow_the_stack(void **state)
{
	(void)state;
	enum { N = 1000000 };
	struct block *blocks = calloc(N, sizeof(*blocks));
	struct edge *edges = calloc(N, sizeof(*edges));
	uint32_t *preds = calloc(N, sizeof(*preds)), *first = calloc(N + 1, sizeof(*first));
	for (uint32_t i = 0; i < N; i++) {
		blocks[i] = (struct block){.start = i * 4, .first_edge = i, .edge_count = 1};
		edges[i] = (struct edge){.from = i, .to = (i + 1) % N};
		preds[i] = (i + N - 1) % N;
		first[i] = i;
	}
	first[N] = N;
	struct cfg g = {.blocks = blocks,
			.edges = edges,
			.pred_edges = preds,
			.first_pred = first,
			.block_count = N,
			.edge_count = N};
	struct arena a;
	struct loop_forest f;
	arena_init(&a);
	loops_find(&g, &f, &a, &a);
	assert_int_equal(f.loop_count, 1);
	assert_int_equal(f.loops[0].block_count, N);
	arena_release(&a);
	free(blocks);
	free(edges);
	free(preds);
	free(first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dominators_are_as_defined),
		cmocka_unit_test(loops_are_as_defined),
		cmocka_unit_test(long_chains_do_not_overflow_the_stack),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
