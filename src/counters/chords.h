/* Counts a flow network with as few counters as possible.
 *
 * The flow into a node equals the flow out of it, so the edges of a spanning tree need no counters:
 * their counts follow from those of the other edges, the chords. With the tree of maximum weight,
 * the most frequently executed edges need no counters (D. E. Knuth and F. R. Stevenson, 1973). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct net_edge {
	uint32_t from, to;
	bool chord; /* result: it needs a counter */
};

struct net {
	uint32_t node_count, edge_count;
	struct net_edge *edges;
	/* The order of solving: tree edges from the leaves on, each with its node that is further
	 * from the root. */
	uint32_t *order; /* the tree edges in this order */
	uint32_t *below; /* for each of these: the node whose other edges are known by then */
	uint32_t tree_count;
};

/* Chooses the chords and fills in the rest of the net, which lives in `a`. Edges with large weights
 * are preferred for the tree. The balance of node 0 is never used. */
void net_choose(struct net *n, const double *weights, struct arena *a, struct arena *tmp);

/* Computes the counts of all edges from those of the chords. `appears` is, for each node, how much
 * more leaves it than enters it; it is overwritten. False if some count is negative: the numbers
 * contradict each other. */
bool net_solve(const struct net *n, int64_t *counts, int64_t *appears);
