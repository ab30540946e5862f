/* One walk over the tree. Inlined calls and lines belong to the function or loop around them.
 * The amount of a node or edge is taken from its outermost occurrence on each path, as in
 * flat.c. */
#include "profile/graph.h"

#include <string.h>

#include "profile/counts.h"
#include "profile/rank.h"

/* The position of one tree node in the graph. */
struct graph_position {
	uint32_t node; /* the graph node that its code belongs to, or PROFILE_NONE */
	uint32_t edge; /* the edge that leads to it, or PROFILE_NONE */
};

struct graphing {
	struct graph *g;
	const struct tree *t;
	uint32_t *node_of; /* by scope */
	struct hashmap edges;
	struct graph_position *positions;
	VEC(uint32_t) active_nodes, active_edges; /* occurrences on the current path */
};

static uint32_t node_of_scope(struct graphing *x, uint32_t scope, bool loop)
{
	if (x->node_of[scope] == PROFILE_NONE) {
		x->node_of[scope] = x->g->nodes.len;
		vec_push(&x->g->nodes, (struct graph_node){.scope = scope, .loop = loop});
		vec_push(&x->active_nodes, 0);
	}
	return x->node_of[scope];
}

static uint32_t edge_between(struct graphing *x, uint32_t from, uint32_t to)
{
	uint32_t next = x->g->edges.len;
	uint32_t edge = hashmap_add(&x->edges, (uint64_t)from << 32 | to, next);
	if (edge == next) {
		vec_push(&x->g->edges, (struct graph_edge){.from = from, .to = to});
		vec_push(&x->active_edges, 0);
	}
	return edge;
}

static void pass_node(struct graphing *x, uint32_t node, const struct tree_node *n)
{
	if (x->active_nodes.data[node]++)
		return;
	x->g->nodes.data[node].total += n->total;
	x->g->nodes.data[node].total_samples += n->total_samples;
}

static void pass_edge(struct graphing *x, uint32_t edge, const struct tree_node *n)
{
	if (x->active_edges.data[edge]++)
		return;
	x->g->edges.data[edge].amount += n->total;
	x->g->edges.data[edge].samples += n->total_samples;
}

static bool is_graph_node(const struct tree_node *n)
{
	return n->kind == TREE_FUNCTION || n->kind == TREE_LOOP;
}

static void enter_node(struct graphing *x, uint32_t number)
{
	const struct tree_node *n = &x->t->nodes.data[number];
	struct graph_position *here = &x->positions[number];
	*here = (struct graph_position){x->positions[n->parent].node, PROFILE_NONE};
	if (!is_graph_node(n))
		return;
	uint32_t from = here->node;
	here->node = node_of_scope(x, n->scope, n->kind == TREE_LOOP);
	pass_node(x, here->node, n);
	if (from == PROFILE_NONE)
		return;
	here->edge = edge_between(x, from, here->node);
	pass_edge(x, here->edge, n);
}

static void leave_node(struct graphing *x, uint32_t number)
{
	const struct graph_position *here = &x->positions[number];
	if (is_graph_node(&x->t->nodes.data[number]))
		x->active_nodes.data[here->node]--;
	if (here->edge != PROFILE_NONE)
		x->active_edges.data[here->edge]--;
}

static void walk(struct graphing *x)
{
	x->positions[0] = (struct graph_position){PROFILE_NONE, PROFILE_NONE};
	for (struct tree_step s = {0}; tree_walk(x->t, &s);) {
		if (s.leaving) {
			leave_node(x, s.node);
			continue;
		}
		enter_node(x, s.node);
		uint32_t node = x->positions[s.node].node;
		if (node == PROFILE_NONE)
			continue;
		x->g->nodes.data[node].self += x->t->nodes.data[s.node].self;
		x->g->nodes.data[node].self_samples += x->t->nodes.data[s.node].self_samples;
	}
}

static void sort_nodes(struct graph *g)
{
	uint32_t count = g->nodes.len, *order = RANK_BY(g->nodes.data, count, total);
	struct graph_node *sorted = xmalloc((count + (size_t)1) * sizeof(*sorted));
	uint32_t *place = xmalloc((count + (size_t)1) * sizeof(*place));
	for (uint32_t i = 0; i < count; i++) {
		sorted[i] = g->nodes.data[order[count - 1 - i]];
		place[order[count - 1 - i]] = i;
	}
	vec_each (e, &g->edges) {
		e->from = place[e->from];
		e->to = place[e->to];
	}
	free(g->nodes.data);
	g->nodes.data = sorted;
	g->nodes.cap = count + 1;
	free(place);
	free(order);
}

static int by_from_and_amount(const void *x, const void *y)
{
	const struct graph_edge *a = x, *b = y;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->amount != b->amount)
		return a->amount > b->amount ? -1 : 1;
	return a->to < b->to ? -1 : a->to > b->to;
}

void graph_build(struct graph *g, const struct tree *t)
{
	struct graphing x = {.g = g, .t = t};
	size_t size = (t->profile->scopes.len + (size_t)1) * sizeof(*x.node_of);
	*g = (struct graph){0};
	x.node_of = memset(xmalloc(size), 0xff, size);
	x.positions = xmalloc(t->nodes.len * sizeof(*x.positions));
	walk(&x);
	sort_nodes(g);
	if (g->edges.len)
		qsort(g->edges.data, g->edges.len, sizeof(*g->edges.data), by_from_and_amount);
	free(x.node_of);
	free(x.positions);
	hashmap_release(&x.edges);
	vec_free(&x.active_nodes);
	vec_free(&x.active_edges);
}

struct call_counting {
	struct graph *g;
	uint32_t *node_of; /* by scope */
	struct hashmap edges;
};

static void add_calls(const struct call_counting *x, uint32_t from, uint32_t to, uint64_t calls)
{
	uint32_t edge = hashmap_get(&x->edges, (uint64_t)from << 32 | to);
	if (from != PROFILE_NONE && edge != HASHMAP_NONE)
		x->g->edges.data[edge].calls += calls;
	x->g->nodes.data[to].calls += calls;
}

/* Returns the nearest function or, if `loops`, loop at or above a tree node; 0 if there is none. */
static uint32_t nearest(const struct tree *t, uint32_t at, bool loops)
{
	while (at && t->nodes.data[at].kind != TREE_FUNCTION &&
	       !(loops && t->nodes.data[at].kind == TREE_LOOP))
		at = t->nodes.data[at].parent;
	return at;
}

/* Values of the metric "calls" are at the callee's entry, which may be inside a loop or inlined
 * call of the callee. */
static void count_calls(const struct call_counting *x, const struct tree *calls)
{
	for (uint32_t i = 1; i < calls->nodes.len; i++) {
		const struct tree_node *n = &calls->nodes.data[i];
		uint32_t callee = n->self ? nearest(calls, i, false) : 0;
		if (!callee)
			continue;
		uint32_t caller = nearest(calls, calls->nodes.data[callee].parent, true);
		uint32_t to = x->node_of[calls->nodes.data[callee].scope];
		uint32_t from = caller ? x->node_of[calls->nodes.data[caller].scope] : PROFILE_NONE;
		if (to != PROFILE_NONE)
			add_calls(x, from, to, n->self);
	}
}

/* A loop has exactly one function or loop around it, so the edge to it has all its entries. */
static void count_entries(const struct call_counting *x, const struct counts *c)
{
	vec_each (r, &c->rows)
		if (r->loop && x->node_of[r->scope] != PROFILE_NONE)
			x->g->nodes.data[x->node_of[r->scope]].calls = r->entries;
	vec_each (e, &x->g->edges)
		if (x->g->nodes.data[e->to].loop)
			e->calls = x->g->nodes.data[e->to].calls;
}

static void mark_counted(struct graph *g, bool loops)
{
	vec_each (n, &g->nodes)
		n->counted = loops || !n->loop;
	vec_each (e, &g->edges)
		e->counted = g->nodes.data[e->to].counted;
}

void graph_count(struct graph *g, const struct profile *p, const struct tree_options *o)
{
	struct call_counting x = {.g = g};
	struct tree_options options = *o;
	struct tree calls;
	struct counts counts;
	options.metric = profile_metric_named(p, PROFILE_CALLS);
	options.lines = false;
	if (!profile_is_counted(p, o->metric) || options.metric == PROFILE_NONE)
		return;
	size_t size = (p->scopes.len + (size_t)1) * sizeof(*x.node_of);
	x.node_of = memset(xmalloc(size), 0xff, size);
	for (uint32_t i = 0; i < g->nodes.len; i++)
		x.node_of[g->nodes.data[i].scope] = i;
	for (uint32_t i = 0; i < g->edges.len; i++) {
		const struct graph_edge *e = &g->edges.data[i];
		hashmap_put(&x.edges, (uint64_t)e->from << 32 | e->to, i);
	}
	tree_build(&calls, p, &options);
	count_calls(&x, &calls);
	tree_release(&calls);
	if (!o->focus) {
		counts_build(&counts, p, o->thread, o->ctx);
		count_entries(&x, &counts);
		counts_release(&counts);
	}
	mark_counted(g, !o->focus);
	hashmap_release(&x.edges);
	free(x.node_of);
}

void graph_release(struct graph *g)
{
	vec_free(&g->nodes);
	vec_free(&g->edges);
}
