#include "counters/chords.h"

#include <stdlib.h>

static uint32_t root_of(uint32_t *parent, uint32_t node)
{
	while (parent[node] != node) {
		parent[node] = parent[parent[node]];
		node = parent[node];
	}
	return node;
}

struct ranked {
	double weight;
	uint32_t edge;
};

/* Equal weights keep their order, so that every host makes the same choice. */
static int by_weight(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->edge < b->edge ? -1 : a->edge > b->edge;
}

/* Kruskal's algorithm for the spanning tree of maximum weight. */
static void mark_chords(struct net *n, const double *weights, struct arena *tmp)
{
	struct ranked *all = ARENA_ARRAY(tmp, struct ranked, n->edge_count + 1);
	uint32_t *parent = ARENA_ARRAY(tmp, uint32_t, n->node_count);
	for (uint32_t i = 0; i < n->node_count; i++)
		parent[i] = i;
	for (uint32_t i = 0; i < n->edge_count; i++)
		all[i] = (struct ranked){weights[i], i};
	qsort(all, n->edge_count, sizeof(*all), by_weight);
	n->tree_count = 0;
	for (uint32_t i = 0; i < n->edge_count; i++) {
		struct net_edge *e = &n->edges[all[i].edge];
		uint32_t from = root_of(parent, e->from), to = root_of(parent, e->to);
		e->chord = from == to;
		n->tree_count += !e->chord;
		parent[from] = to;
	}
}

/* The tree edges at each node. */
struct incidence {
	uint32_t *first, *edges;
};

static struct incidence list_tree(const struct net *n, struct arena *tmp)
{
	struct incidence in = {.first = ARENA_ARRAY(tmp, uint32_t, n->node_count + 2),
			       .edges = ARENA_ARRAY(tmp, uint32_t, 2 * n->tree_count + 1)};
	for (uint32_t i = 0; i < n->edge_count; i++) {
		if (n->edges[i].chord)
			continue;
		in.first[n->edges[i].from + 2]++;
		in.first[n->edges[i].to + 2]++;
	}
	for (uint32_t i = 2; i < n->node_count + 2; i++)
		in.first[i] += in.first[i - 1];
	for (uint32_t i = 0; i < n->edge_count; i++) {
		if (n->edges[i].chord)
			continue;
		in.edges[in.first[n->edges[i].from + 1]++] = i;
		in.edges[in.first[n->edges[i].to + 1]++] = i;
	}
	return in;
}

/* Breadth-first search from node 0, then from a node in each part that is not connected to it.
 * Reversed, the order begins at the leaves. */
static void find_order(struct net *n, struct arena *tmp)
{
	struct incidence in = list_tree(n, tmp);
	uint32_t *queue = ARENA_ARRAY(tmp, uint32_t, n->node_count);
	bool *seen = ARENA_ARRAY(tmp, bool, n->node_count);
	uint32_t tail = 0, at = n->tree_count;
	for (uint32_t start = 0, head = 0; start < n->node_count; start++) {
		if (seen[start])
			continue;
		seen[start] = true;
		queue[tail++] = start;
		for (; head < tail; head++) {
			uint32_t node = queue[head];
			for (uint32_t i = in.first[node]; i < in.first[node + 1]; i++) {
				const struct net_edge *e = &n->edges[in.edges[i]];
				uint32_t other = e->from == node ? e->to : e->from;
				if (seen[other])
					continue;
				seen[other] = true;
				queue[tail++] = other;
				n->order[--at] = in.edges[i];
				n->below[at] = other;
			}
		}
	}
}

void net_choose(struct net *n, const double *weights, struct arena *a, struct arena *tmp)
{
	mark_chords(n, weights, tmp);
	n->order = ARENA_ARRAY(a, uint32_t, n->tree_count + 1);
	n->below = ARENA_ARRAY(a, uint32_t, n->tree_count + 1);
	find_order(n, tmp);
}

/* During this, `appears` is what each node still has to send along edges whose count is not known
 * yet. */
bool net_solve(const struct net *n, int64_t *counts, int64_t *appears)
{
	bool good = true;
	for (uint32_t i = 0; i < n->edge_count; i++) {
		const struct net_edge *e = &n->edges[i];
		if (!e->chord)
			continue;
		appears[e->from] -= counts[i];
		appears[e->to] += counts[i];
	}
	for (uint32_t i = 0; i < n->tree_count; i++) {
		const struct net_edge *e = &n->edges[n->order[i]];
		uint32_t below = n->below[i];
		int64_t rest = appears[below];
		counts[n->order[i]] = e->from == below ? rest : -rest;
		good &= counts[n->order[i]] >= 0;
		appears[below] = 0;
		appears[e->from == below ? e->to : e->from] += rest;
	}
	return good;
}
