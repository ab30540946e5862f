/* Builds the result level by level. Each node of the result represents a set of nodes of the
 * tree; they are kept as cursors, each with the amount that came up to there. Moving each cursor
 * of a level to its caller gives the next level. Cursors of one node that reach the same tree
 * node are merged, and the nodes of a level that have too little are removed before the next
 * level is built. Work per level is at most the size of the tree. */
#include "profile/callers.h"

struct caller_cursor {
	uint32_t node; /* node of the result */
	uint32_t at;   /* node of the tree */
	uint64_t amount, samples;
};

struct callers {
	struct tree *out;
	const struct tree *t;
	double min_total;
	uint32_t *up; /* by tree node: the nearest node above it that is not a line */
	VEC(struct caller_cursor) level, next;
	/* Indices of the next level: of its nodes, and of its cursors. */
	struct hashmap children, cursor_index;
};

static uint32_t child(struct callers *c, uint32_t parent, const struct tree_node *n)
{
	uint32_t what = n->scope == PROFILE_NONE ? UINT32_MAX - n->kind : n->scope;
	uint32_t next = c->out->nodes.len;
	uint32_t at = hashmap_add(&c->children, (uint64_t)parent << 32 | what, next);
	if (at == next)
		vec_push(&c->out->nodes, (struct tree_node){.parent = parent,
							    .first_child = PROFILE_NONE,
							    .next = PROFILE_NONE,
							    .scope = n->scope,
							    .kind = n->kind});
	return at;
}

/* Adds to the next level the amount that came from node `parent` of the result to node `at` of
 * the tree. It gets a cursor unless the path starts there. */
static void add_cursor(struct callers *c, uint32_t parent, uint32_t at, uint64_t amount,
		       uint64_t samples)
{
	uint32_t node = child(c, parent, &c->t->nodes.data[at]);
	struct tree_node *n = &c->out->nodes.data[node];
	n->total += amount;
	n->total_samples += samples;
	if (!c->up[at]) {
		n->self += amount;
		n->self_samples += samples;
		return;
	}
	uint32_t new = c->next.len;
	uint32_t cursor = hashmap_add(&c->cursor_index, (uint64_t)node << 32 | at, new);
	if (cursor == new)
		vec_push(&c->next, (struct caller_cursor){.node = node, .at = at});
	c->next.data[cursor].amount += amount;
	c->next.data[cursor].samples += samples;
}

static void find_up(struct callers *c)
{
	c->up[0] = PROFILE_NONE;
	for (uint32_t i = 1; i < c->t->nodes.len; i++) {
		uint32_t parent = c->t->nodes.data[i].parent;
		bool line = c->t->nodes.data[parent].kind == TREE_LINE;
		c->up[i] = line ? c->up[parent] : parent;
	}
}

/* Returns, by tree node, the function that its self counts for: the nearest above it or, without
 * one, the node itself. */
static uint32_t *find_functions(const struct tree *t)
{
	uint32_t *found = xmalloc(t->nodes.len * sizeof(*found));
	for (uint32_t i = 0; i < t->nodes.len; i++) {
		const struct tree_node *n = &t->nodes.data[i];
		uint32_t around = n->parent == PROFILE_NONE ? PROFILE_NONE : found[n->parent];
		bool inside = around != PROFILE_NONE && t->nodes.data[around].kind == TREE_FUNCTION;
		found[i] = n->kind != TREE_FUNCTION && inside ? around : i;
	}
	return found;
}

static void first_level(struct callers *c)
{
	uint32_t *functions = find_functions(c->t);
	for (uint32_t i = 1; i < c->t->nodes.len; i++) {
		const struct tree_node *n = &c->t->nodes.data[i];
		if (n->self || n->self_samples)
			add_cursor(c, 0, functions[i], n->self, n->self_samples);
	}
	free(functions);
}

static void next_level(struct callers *c)
{
	vec_each (k, &c->level)
		add_cursor(c, k->node, c->up[k->at], k->amount, k->samples);
}

/* Removes nodes from `first` on that have too little, with their cursors. The remaining cursors
 * become the current level. */
static void prune(struct callers *c, uint32_t first)
{
	uint32_t count = c->out->nodes.len, kept = first;
	uint32_t *place = xmalloc((count - first + (size_t)1) * sizeof(*place));
	for (uint32_t i = first; i < count; i++) {
		bool keep = (double)c->out->nodes.data[i].total >= c->min_total;
		place[i - first] = keep ? kept : PROFILE_NONE;
		if (keep)
			c->out->nodes.data[kept++] = c->out->nodes.data[i];
	}
	c->out->nodes.len = kept;
	vec_clear(&c->level);
	vec_each (k, &c->next) {
		uint32_t node = place[k->node - first];
		if (node != PROFILE_NONE)
			vec_push(&c->level,
				 (struct caller_cursor){node, k->at, k->amount, k->samples});
	}
	vec_clear(&c->next);
	hashmap_release(&c->children);
	hashmap_release(&c->cursor_index);
	free(place);
}

static struct tree_node root_like(const struct tree_node *root)
{
	struct tree_node r = *root;
	r.first_child = r.next = PROFILE_NONE;
	return r;
}

void callers_build(struct tree *out, const struct tree *t, const struct callers_options *o)
{
	struct callers c = {.out = out, .t = t};
	*out = (struct tree){.profile = t->profile};
	vec_push(&out->nodes, root_like(&t->nodes.data[0]));
	c.min_total = o->min_share * (double)out->nodes.data[0].total;
	c.up = xmalloc(t->nodes.len * sizeof(*c.up));
	find_up(&c);
	if (o->max_depth)
		first_level(&c);
	prune(&c, 1);
	for (uint32_t depth = 1; c.level.len && depth < o->max_depth; depth++) {
		uint32_t first = out->nodes.len;
		next_level(&c);
		prune(&c, first);
	}
	tree_link(out);
	free(c.up);
	vec_free(&c.level);
	vec_free(&c.next);
}
