/* Finds natural loops by collapsing them, inner ones first, with union-find (near-linear; after
 * Tarjan, "Testing flow graph reducibility", 1974). Irreducible regions are what is still cyclic
 * without back edges. */
#include "flow/loops.h"

#include <string.h>

#include "base/vec.h"

/* A loop while the forest is being built; numbered in order of creation. */
struct loop_node {
	uint32_t header;
	uint32_t parent; /* node or LOOP_NONE */
	bool irreducible;
};

struct loop_builder {
	const struct cfg *g;
	struct arena *tmp;
	uint32_t *in, *out;     /* intervals: d dominates b iff in[d] <= in[b] < out[d] */
	uint32_t *by_in;        /* blocks in dominator tree preorder */
	uint32_t *innermost;    /* block -> node */
	uint32_t *union_parent; /* block -> block; a set's root is its outermost header so far */
	VEC(struct loop_node) nodes;
};

static bool dominates(const struct loop_builder *b, uint32_t d, uint32_t x)
{
	return b->in[d] <= b->in[x] && b->in[x] < b->out[d];
}

static bool is_back_edge(const struct loop_builder *b, const struct edge *e)
{
	return dominates(b, e->to, e->from);
}

/* Numbers the dominator tree in preorder; several roots make a forest. */
static void number_dominator_tree(struct loop_builder *b)
{
	uint32_t n = b->g->block_count, count = 0, depth = 0;
	uint32_t *idom = ARENA_ARRAY(b->tmp, uint32_t, n);
	uint32_t *child = ARENA_ARRAY(b->tmp, uint32_t, n),
		 *sibling = ARENA_ARRAY(b->tmp, uint32_t, n);
	uint32_t *stack = ARENA_ARRAY(b->tmp, uint32_t, n);
	memset(child, 0xff, n * sizeof(*child));
	dominators(b->g, idom, b->tmp);
	for (uint32_t v = n; v-- > 0;) {
		if (idom[v] == BLOCK_NONE)
			continue;
		sibling[v] = child[idom[v]];
		child[idom[v]] = v;
	}
	for (uint32_t root = 0; root < n; root++) {
		if (idom[root] != BLOCK_NONE)
			continue;
		stack[depth++] = root;
		b->by_in[count] = root;
		b->in[root] = count++;
		while (depth) {
			uint32_t v = stack[depth - 1], c = child[v];
			if (c == BLOCK_NONE) {
				b->out[v] = count;
				depth--;
				continue;
			}
			child[v] = sibling[c];
			stack[depth++] = c;
			b->by_in[count] = c;
			b->in[c] = count++;
		}
	}
}

static uint32_t find(struct loop_builder *b, uint32_t x)
{
	while (b->union_parent[x] != x) {
		b->union_parent[x] = b->union_parent[b->union_parent[x]];
		x = b->union_parent[x];
	}
	return x;
}

/* Makes the natural loop of `header`, if it has back edges. Requires that all loops nested in it
 * were made. The blocks of a nested loop are then one set, represented by its header, and control
 * enters that set only at the header. */
static void collapse_loop(struct loop_builder *b, uint32_t header, uint32_t *work)
{
	const struct cfg *g = b->g;
	uint32_t pending = 0, node = LOOP_NONE;
	for (uint32_t i = g->first_pred[header]; i < g->first_pred[header + 1]; i++) {
		const struct edge *e = &g->edges[g->pred_edges[i]];
		if (!is_back_edge(b, e))
			continue;
		if (node == LOOP_NONE) {
			node = b->nodes.len;
			vec_push(&b->nodes,
				 (struct loop_node){.header = header, .parent = LOOP_NONE});
			b->innermost[header] = node;
		}
		work[pending++] = e->from;
		while (pending) {
			uint32_t x = find(b, work[--pending]);
			if (x == header)
				continue;
			b->union_parent[x] = header;
			if (b->innermost[x] == LOOP_NONE)
				b->innermost[x] = node;
			else
				b->nodes.data[b->innermost[x]].parent = node;
			for (uint32_t j = g->first_pred[x]; j < g->first_pred[x + 1]; j++) {
				uint32_t from = g->edges[g->pred_edges[j]].from;
				if (find(b, from) != header && dominates(b, header, from))
					work[pending++] = from;
			}
		}
	}
}

static void find_natural_loops(struct loop_builder *b)
{
	uint32_t n = b->g->block_count;
	uint32_t *work = ARENA_ARRAY(b->tmp, uint32_t, b->g->edge_count + 1);
	for (uint32_t v = 0; v < n; v++)
		b->union_parent[v] = v;
	/* In preorder, a header follows the headers of the loops around it, because these dominate
	 * it. So inner loops are collapsed first. */
	for (uint32_t i = n; i-- > 0;)
		collapse_loop(b, b->by_in[i], work);
}

/* Strongly connected regions by Tarjan's algorithm over all edges but back edges. */
struct scc {
	struct loop_builder *b;
	uint32_t *index, *low; /* 0: not visited */
	uint32_t *stack, *next_edge, *path;
	bool *on_stack;
	uint32_t count, stack_len, path_len;
};

static void scc_enter(struct scc *s, uint32_t v)
{
	s->index[v] = s->low[v] = ++s->count;
	s->stack[s->stack_len++] = v;
	s->on_stack[v] = true;
	s->path[s->path_len++] = v;
}

static uint32_t node_depth(const struct loop_builder *b, uint32_t node)
{
	uint32_t depth = 0;
	for (; node != LOOP_NONE; node = b->nodes.data[node].parent)
		depth++;
	return depth;
}

static uint32_t common_ancestor(const struct loop_builder *b, uint32_t x, uint32_t y)
{
	uint32_t dx = node_depth(b, x), dy = node_depth(b, y);
	for (; dx > dy; dx--)
		x = b->nodes.data[x].parent;
	for (; dy > dx; dy--)
		y = b->nodes.data[y].parent;
	while (x != y) {
		x = b->nodes.data[x].parent;
		y = b->nodes.data[y].parent;
	}
	return x;
}

/* Inserts the region into the forest, below the smallest loop that holds all of it. If a loop
 * directly below that one touches the region, its header is in the region; so it is moved below the
 * region. */
static void add_region(struct loop_builder *b, const uint32_t *blocks, uint32_t count)
{
	uint32_t around = b->innermost[blocks[0]], node = b->nodes.len, header = blocks[0];
	for (uint32_t i = 1; i < count; i++) {
		around = common_ancestor(b, around, b->innermost[blocks[i]]);
		if (blocks[i] < header)
			header = blocks[i];
	}
	vec_push(&b->nodes,
		 (struct loop_node){.header = header, .parent = around, .irreducible = true});
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = b->innermost[blocks[i]];
		if (at == around) {
			b->innermost[blocks[i]] = node;
			continue;
		}
		while (at != node && b->nodes.data[at].parent != around)
			at = b->nodes.data[at].parent;
		if (at != node)
			b->nodes.data[at].parent = node;
	}
}

static void scc_leave(struct scc *s, uint32_t v)
{
	s->path_len--;
	if (s->path_len) {
		uint32_t above = s->path[s->path_len - 1];
		if (s->low[v] < s->low[above])
			s->low[above] = s->low[v];
	}
	if (s->low[v] != s->index[v])
		return;
	uint32_t first = s->stack_len;
	do
		s->on_stack[s->stack[--first]] = false;
	while (s->stack[first] != v);
	if (s->stack_len - first > 1)
		add_region(s->b, s->stack + first, s->stack_len - first);
	s->stack_len = first;
}

static void scc_step(struct scc *s, uint32_t v)
{
	const struct block *block = &s->b->g->blocks[v];
	if (s->next_edge[v] == block->edge_count) {
		scc_leave(s, v);
		return;
	}
	const struct edge *e = &s->b->g->edges[block->first_edge + s->next_edge[v]++];
	if (is_back_edge(s->b, e))
		return;
	if (!s->index[e->to])
		scc_enter(s, e->to);
	else if (s->on_stack[e->to] && s->index[e->to] < s->low[v])
		s->low[v] = s->index[e->to];
}

static void find_irreducible_regions(struct loop_builder *b)
{
	uint32_t n = b->g->block_count;
	struct scc s = {
		.b = b,
		.index = ARENA_ARRAY(b->tmp, uint32_t, n),
		.low = ARENA_ARRAY(b->tmp, uint32_t, n),
		.stack = ARENA_ARRAY(b->tmp, uint32_t, n),
		.next_edge = ARENA_ARRAY(b->tmp, uint32_t, n),
		.path = ARENA_ARRAY(b->tmp, uint32_t, n),
		.on_stack = ARENA_ARRAY(b->tmp, bool, n),
	};
	for (uint32_t v = 0; v < n; v++) {
		if (s.index[v])
			continue;
		scc_enter(&s, v);
		while (s.path_len)
			scc_step(&s, s.path[s.path_len - 1]);
	}
}

/* Gives the nodes their final numbers: preorder, siblings by header. */
static uint32_t *order_nodes(struct loop_builder *b, struct loop *loops)
{
	uint32_t n = b->nodes.len, blocks = b->g->block_count, depth = 0, count = 0;
	uint32_t *child = ARENA_ARRAY(b->tmp, uint32_t, n + 1);
	uint32_t *sibling = ARENA_ARRAY(b->tmp, uint32_t, n),
		 *number = ARENA_ARRAY(b->tmp, uint32_t, n);
	uint32_t *stack = ARENA_ARRAY(b->tmp, uint32_t, n + 1);
	uint32_t *first_at = ARENA_ARRAY(b->tmp, uint32_t, blocks),
		 *same = ARENA_ARRAY(b->tmp, uint32_t, n);
	memset(child, 0xff, (n + 1) * sizeof(*child));
	memset(first_at, 0xff, blocks * sizeof(*first_at));
	/* A bucket sort by header. The buckets are then emptied from the highest one down. */
	for (uint32_t i = 0; i < n; i++) {
		same[i] = first_at[b->nodes.data[i].header];
		first_at[b->nodes.data[i].header] = i;
	}
	for (uint32_t h = blocks; h-- > 0;) {
		for (uint32_t i = first_at[h]; i != LOOP_NONE; i = same[i]) {
			uint32_t parent = b->nodes.data[i].parent;
			uint32_t *list = &child[parent == LOOP_NONE ? n : parent];
			sibling[i] = *list;
			*list = i;
		}
	}
	stack[depth++] = n;
	while (depth) {
		uint32_t at = stack[depth - 1], c = child[at];
		if (c == LOOP_NONE) {
			depth--;
			continue;
		}
		child[at] = sibling[c];
		uint32_t parent = b->nodes.data[c].parent;
		number[c] = count;
		loops[count++] = (struct loop){
			.header = b->nodes.data[c].header,
			.parent = parent == LOOP_NONE ? (uint32_t)LOOP_NONE : number[parent],
			.depth = depth,
			.irreducible = b->nodes.data[c].irreducible,
		};
		stack[depth++] = c;
	}
	return number;
}

/* Lays the blocks out so that the members of each loop are consecutive, nested loops included:
 * first the loop's own blocks, then those of the nested loops in order. */
static uint32_t *lay_out_blocks(const struct loop_builder *b, struct loop *loops,
				uint32_t loop_count, const uint32_t *innermost, struct arena *a)
{
	uint32_t total = 0;
	for (uint32_t v = 0; v < b->g->block_count; v++) {
		if (innermost[v] == LOOP_NONE)
			continue;
		loops[innermost[v]].block_count++;
		total++;
	}
	uint32_t *blocks = ARENA_ARRAY(a, uint32_t, total),
		 *fill = ARENA_ARRAY(b->tmp, uint32_t, loop_count);
	uint32_t at = 0;
	for (uint32_t i = 0; i < loop_count; i++) {
		loops[i].first_block = fill[i] = at;
		at += loops[i].block_count;
	}
	for (uint32_t v = 0; v < b->g->block_count; v++)
		if (innermost[v] != LOOP_NONE)
			blocks[fill[innermost[v]]++] = v;
	for (uint32_t i = loop_count; i-- > 0;)
		if (loops[i].parent != LOOP_NONE)
			loops[loops[i].parent].block_count += loops[i].block_count;
	return blocks;
}

/* Whether `loop` is `inner` or around it; `inner` may be LOOP_NONE. */
static bool encloses(const struct loop *loops, uint32_t loop, uint32_t inner)
{
	while (inner != LOOP_NONE && loops[inner].depth > loops[loop].depth)
		inner = loops[inner].parent;
	return inner == loop;
}

/* The loops of a graph while the edges of each are collected. */
struct nest {
	const struct cfg *g;
	const struct loop *loops;
	const uint32_t *innermost;
	/* For each block: the loop that is_entered() was last called with, and its answer. A label
	 * of a computed goto has very many in-edges, which all need the same answer. */
	uint32_t *asked;
	bool *entered;
};

/* Whether control can arrive at block `b`, a member of `loop`, from outside the loop. */
static bool is_entered(struct nest *n, uint32_t loop, uint32_t b)
{
	const struct cfg *g = n->g;
	if (n->asked[b] == loop)
		return n->entered[b];
	n->asked[b] = loop;
	n->entered[b] = false;
	for (uint32_t i = g->first_pred[b]; i < g->first_pred[b + 1] && !n->entered[b]; i++) {
		uint32_t from = g->edges[g->pred_edges[i]].from;
		n->entered[b] = !encloses(n->loops, loop, n->innermost[from]);
	}
	return n->entered[b];
}

enum role { ROLE_ENTRY, ROLE_EXIT, ROLE_BACK, ROLES };

/* What an edge is to a loop. */
struct edge_role {
	uint32_t loop, edge;
	enum role role;
};

typedef VEC(struct edge_role) edge_role_list;

static void list_edge_roles(struct nest *n, uint32_t edge, edge_role_list *roles)
{
	const struct loop *loops = n->loops;
	uint32_t target = n->g->edges[edge].to;
	uint32_t from = n->innermost[n->g->edges[edge].from], to = n->innermost[target], l;
	for (l = to; l != LOOP_NONE && !encloses(loops, l, from); l = loops[l].parent)
		vec_push(roles, (struct edge_role){l, edge, ROLE_ENTRY});
	for (l = from; l != LOOP_NONE && !encloses(loops, l, to); l = loops[l].parent)
		vec_push(roles, (struct edge_role){l, edge, ROLE_EXIT});
	/* l is now the innermost loop that holds both ends. */
	if (l != LOOP_NONE &&
	    (loops[l].irreducible ? is_entered(n, l, target) : loops[l].header == target))
		vec_push(roles, (struct edge_role){l, edge, ROLE_BACK});
}

/* Sorts the edges by loop and role, and notes in the loops where theirs are. */
static uint32_t *lay_out_edges(struct loop *loops, uint32_t loop_count, const edge_role_list *roles,
			       struct arena *a, struct arena *tmp)
{
	uint32_t *edges = ARENA_ARRAY(a, uint32_t, roles->len), at = 0;
	uint32_t(*run)[ROLES] = arena_zalloc(tmp, loop_count * sizeof(*run), _Alignof(uint32_t));
	vec_each (u, roles)
		run[u->loop][u->role]++;
	for (uint32_t i = 0; i < loop_count; i++) {
		struct loop *l = &loops[i];
		l->entry_count = run[i][ROLE_ENTRY];
		l->exit_count = run[i][ROLE_EXIT];
		l->back_count = run[i][ROLE_BACK];
		l->first_entry = run[i][ROLE_ENTRY] = at;
		l->first_exit = run[i][ROLE_EXIT] = at += l->entry_count;
		l->first_back = run[i][ROLE_BACK] = at += l->exit_count;
		at += l->back_count;
	}
	vec_each (u, roles)
		edges[run[u->loop][u->role]++] = u->edge;
	return edges;
}

/* Sets the headers of irreducible loops. This needs their entry edges. */
static void place_headers(const struct cfg *g, struct loop *loops, uint32_t loop_count,
			  const uint32_t *edges)
{
	for (uint32_t i = 0; i < loop_count; i++) {
		struct loop *l = &loops[i];
		if (!l->irreducible || !l->entry_count)
			continue;
		l->header = g->edges[edges[l->first_entry]].to;
		for (uint32_t j = 1; j < l->entry_count; j++) {
			uint32_t to = g->edges[edges[l->first_entry + j]].to;
			l->header = to < l->header ? to : l->header;
		}
	}
}

void loops_find(const struct cfg *g, struct loop_forest *out, struct arena *a, struct arena *tmp)
{
	uint32_t n = g->block_count;
	uint32_t *innermost = ARENA_ARRAY(a, uint32_t, n);
	memset(innermost, 0xff, n * sizeof(*innermost));
	struct loop_builder b = {
		.g = g,
		.tmp = tmp,
		.in = ARENA_ARRAY(tmp, uint32_t, n),
		.out = ARENA_ARRAY(tmp, uint32_t, n),
		.by_in = ARENA_ARRAY(tmp, uint32_t, n),
		.innermost = innermost,
		.union_parent = ARENA_ARRAY(tmp, uint32_t, n),
	};
	number_dominator_tree(&b);
	find_natural_loops(&b);
	find_irreducible_regions(&b);

	uint32_t count = b.nodes.len;
	struct loop *loops = ARENA_ARRAY(a, struct loop, count);
	uint32_t *number = order_nodes(&b, loops);
	for (uint32_t v = 0; v < n; v++)
		if (innermost[v] != LOOP_NONE)
			innermost[v] = number[innermost[v]];
	uint32_t *blocks = lay_out_blocks(&b, loops, count, innermost, a);
	struct nest nest = {g, loops, innermost, ARENA_ARRAY(tmp, uint32_t, n),
			    ARENA_ARRAY(tmp, bool, n)};
	memset(nest.asked, 0xff, n * sizeof(*nest.asked));
	edge_role_list roles = {0};
	for (uint32_t e = 0; count && e < g->edge_count; e++)
		list_edge_roles(&nest, e, &roles);
	uint32_t *edges = lay_out_edges(loops, count, &roles, a, tmp);
	place_headers(g, loops, count, edges);
	vec_free(&roles);
	vec_free(&b.nodes);
	*out = (struct loop_forest){
		.loops = loops,
		.blocks = blocks,
		.edges = edges,
		.innermost = innermost,
		.loop_count = count,
	};
}
