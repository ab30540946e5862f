/* The loop-call graph of LoopSampler (Moseley et al., section 4). Nodes are functions and loops.
 * Edges lead from a function to its outermost loops, from a loop to its inner loops, and from
 * both to the functions they call. The amount of an edge is everything measured in contexts that
 * pass over it; each sample counts once, however often a recursion passes over the edge. */
#pragma once
#include "profile/tree.h"

struct graph_node {
	uint32_t scope; /* of a function or loop */
	bool loop;
	/* self: in its own code, without callees and without the loops that are nodes of their
	 * own. Inlined calls count as own code, and so does work of the kernel for it. */
	uint64_t self, total;
	uint64_t self_samples, total_samples;
	uint64_t calls; /* calls of the function or entries of the loop; see graph_count() */
	bool counted;   /* `calls` is known */
};

struct graph_edge {
	uint32_t from, to;
	uint64_t amount, samples;
	uint64_t calls; /* calls of `to` from `from`, recursive ones included */
	bool counted;
};

struct graph {
	VEC(struct graph_node) nodes; /* by total, largest first */
	VEC(struct graph_edge) edges; /* sorted by from, then amount, largest first */
};

void graph_build(struct graph *g, const struct tree *t);
/* Fills in `calls` if the profile has counts; `o` are the options of the graph's tree. Entries
 * of loops are not counted by call path, so they are unknown if there is a focus. */
void graph_count(struct graph *g, const struct profile *p, const struct tree_options *o);
void graph_release(struct graph *g);
