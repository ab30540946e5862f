/* The loop-call graph of LoopSampler (Moseley et al., section 4): procedures and loops are nodes; a
 * procedure leads to its outermost loops, a loop to its inner loops, both to the procedures called
 * from them. The amount of an edge is all that was measured in contexts that pass over it, each
 * sample once however often a recursion passes. */
#pragma once
#include "profile/tree.h"

struct graph_node {
	uint32_t scope; /* a procedure's or a loop's */
	bool loop;
	/* self: in its own code, without (other) loops and callees; inlined calls are own code, and
	 * so is what the kernel does for it. */
	uint64_t self, total;
	uint64_t self_samples, total_samples;
	uint64_t calls; /* how often it was called or, a loop, entered; see graph_count() */
	bool counted;   /* that is known */
};

struct graph_edge {
	uint32_t from, to;
	uint64_t amount, samples;
	uint64_t calls; /* of `to` from here, recursive ones included; as above */
	bool counted;
};

struct graph {
	VEC(struct graph_node) nodes; /* by total, largest first */
	VEC(struct graph_edge) edges; /* sorted by from, then amount, largest first */
};

void graph_build(struct graph *g, const struct tree *t);
/* Adds calls, if the profile has counts; `o` are the options of the graph's tree. Entries of loops
 * are not counted by call path: with a focus they are not known. */
void graph_count(struct graph *g, const struct profile *p, const struct tree_options *o);
void graph_release(struct graph *g);
