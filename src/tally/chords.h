/* Counting a flow network with as few counters as possible.
 *
 * What flows into a node flows out of it, so the edges of a spanning tree need no counters: their
 * counts follow from those of the others, the chords. With the tree of largest weight, what is
 * executed most is not counted (D. E. Knuth and F. R. Stevenson, 1973). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct net_edge {
	uint32_t from, to;
	double weight; /* the larger, the rather it is in the tree */
	bool chord;    /* out */
};

struct net {
	uint32_t node_count, edge_count;
	struct net_edge *edges;
	/* How to solve it: tree edges from the leaves on, each with the node it hangs from. */
	uint32_t *order; /* edges of the tree */
	uint32_t *below; /* of each of these: the node whose other edges are known by then */
	uint32_t tree_count;
};

/* Chooses the chords. Node 0 is the one whose balance is never asked for. The rest of the net lives
 * in `a`, like the edges. */
void net_choose(struct net *n, struct arena *a, struct arena *tmp);

/* Fills in the counts of all edges, of which those of chords are there. `appears` tells for each
 * node how much more comes out of it than goes in; it is used up. False if some count would be
 * negative: the numbers contradict each other. */
bool net_solve(const struct net *n, int64_t *counts, int64_t *appears);
