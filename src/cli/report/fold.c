#include "cli/report/fold.h"

struct folding {
	struct tree *out;
	struct hashmap children;
	VEC(uint32_t) levels; /* by folded node: the most levels that are folded into it */
	uint32_t *place;      /* by node: its folded node */
	uint32_t *level;      /* by node: how many of those above it are in the same folded node */
};

/* Returns the nearest node from `at` up to the root that is this function; PROFILE_NONE if there is
 * none. */
static uint32_t find_recursion(const struct tree *t, uint32_t at, uint32_t scope)
{
	for (; at != PROFILE_NONE; at = t->nodes.data[at].parent)
		if (t->nodes.data[at].kind == TREE_FUNCTION && t->nodes.data[at].scope == scope)
			return at;
	return PROFILE_NONE;
}

static uint32_t find_child(struct folding *f, uint32_t parent, const struct tree_node *n)
{
	/* Nodes without a scope differ by their kind; no scope has so large a number. */
	uint32_t what = n->scope == PROFILE_NONE ? PROFILE_NONE - n->kind : n->scope;
	uint32_t fresh = f->out->nodes.len;
	uint32_t child = hashmap_add(&f->children, (uint64_t)parent << 32 | what, fresh);
	if (child == fresh) {
		struct tree_node empty = {.parent = parent, .scope = n->scope, .kind = n->kind};
		empty.first_child = empty.next = PROFILE_NONE;
		vec_push(&f->out->nodes, empty);
		vec_push(&f->levels, 0);
	}
	return child;
}

/* The level of a call that is folded into a node: one below the last such call on its path. */
static uint32_t level_below(const struct folding *f, const struct tree *t, uint32_t parent,
			    uint32_t folded)
{
	while (f->place[parent] != folded)
		parent = t->nodes.data[parent].parent;
	return f->level[parent] + 1;
}

static void place_node(struct folding *f, const struct tree *t, uint32_t i)
{
	const struct tree_node *n = &t->nodes.data[i];
	uint32_t parent = f->place[n->parent], at = PROFILE_NONE;
	if (n->kind == TREE_FUNCTION)
		at = find_recursion(f->out, parent, n->scope);
	if (at == PROFILE_NONE) {
		at = find_child(f, parent, n);
	} else {
		f->level[i] = level_below(f, t, n->parent, at);
		if (f->level[i] > f->levels.data[at])
			f->levels.data[at] = f->level[i];
	}
	f->place[i] = at;
	f->out->nodes.data[at].self += n->self;
	f->out->nodes.data[at].self_samples += n->self_samples;
}

static void add_up(struct tree *t)
{
	for (uint32_t i = t->nodes.len; i-- > 0;) {
		struct tree_node *n = &t->nodes.data[i];
		n->total += n->self;
		n->total_samples += n->self_samples;
		if (n->parent == PROFILE_NONE)
			continue;
		t->nodes.data[n->parent].total += n->total;
		t->nodes.data[n->parent].total_samples += n->total_samples;
	}
}

void fold_tree(struct folded *out, const struct tree *t)
{
	struct folding f = {.out = &out->tree};
	struct tree_node root = t->nodes.data[0];
	root.first_child = root.next = PROFILE_NONE;
	root.total = root.total_samples = 0;
	*out = (struct folded){.tree = {.profile = t->profile}};
	f.place = xcalloc(t->nodes.len, sizeof(*f.place));
	f.level = xcalloc(t->nodes.len, sizeof(*f.level));
	vec_push(&f.out->nodes, root);
	vec_push(&f.levels, 0);
	for (uint32_t i = 1; i < t->nodes.len; i++)
		place_node(&f, t, i);
	add_up(f.out);
	tree_link(f.out);
	out->levels = f.levels.data;
	hashmap_release(&f.children);
	free(f.place);
	free(f.level);
}

void folded_release(struct folded *f)
{
	tree_release(&f->tree);
	free(f->levels);
}
