/* Loop nests of a flow graph.
 *
 * A back edge goes to a block that dominates its source. Its natural loop is the target (the
 * header) and all blocks that reach the source without passing the header; natural loops with the
 * same header are one loop. Cycles that remain without the back edges have several entries: each
 * such strongly connected region, with the natural loops whose headers lie in it, is one
 * irreducible loop. */
#pragma once
#include "flow/cfg.h"

enum { LOOP_NONE = UINT32_MAX };

struct loop {
	uint32_t header; /* of an irreducible loop: its entry block with the lowest address */
	uint32_t parent; /* the enclosing loop, or LOOP_NONE; parents come before children */
	uint32_t depth;  /* 1 for an outermost loop */
	bool irreducible;
	/* Member blocks, with those of nested loops; in loop_forest.blocks. */
	uint32_t first_block, block_count;
	/* Indices of edges of the graph; in loop_forest.edges. */
	uint32_t first_entry, entry_count; /* from outside to a header */
	uint32_t first_exit, exit_count;   /* from a member to outside */
	uint32_t first_back, back_count;   /* from a member to a header */
};

struct loop_forest {
	const struct loop *loops;
	const uint32_t *blocks, *edges;
	const uint32_t *innermost; /* for each block of the graph: its loop, or LOOP_NONE */
	uint32_t loop_count;
};

/* Computes immediate dominators. Control is taken to enter at the graph's entry, at every block
 * without predecessors (it must be reached somehow), and at the first block of what these do not
 * reach. The idom of a block that no other block dominates is BLOCK_NONE. idom[] has block_count
 * elements. */
void dominators(const struct cfg *g, uint32_t *idom, struct arena *tmp);

/* Finds all loops; the result lives in `a`. */
void loops_find(const struct cfg *g, struct loop_forest *out, struct arena *a, struct arena *tmp);
