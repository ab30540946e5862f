#include "cli/report/fold.h"

struct folding {
	struct tree *out;
	struct hashmap children;
	VEC(uint32_t) levels;       /* by folded node: the levels folded into it */
	VEC(uint32_t) folds_before; /* by folded node: folded calls above it when it was added */
	uint32_t *place;            /* by node: its folded node */
	uint32_t *folds;            /* by node: the number of folded calls on the path to it */
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

static uint32_t find_child(struct folding *f, uint32_t parent, const struct tree_node *n,
			   uint32_t folds)
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
		vec_push(&f->folds_before, folds);
	}
	return child;
}

static void place_node(struct folding *f, const struct tree *t, uint32_t i)
{
	const struct tree_node *n = &t->nodes.data[i];
	uint32_t parent = f->place[n->parent], folds = f->folds[n->parent], at = PROFILE_NONE;
	if (n->kind == TREE_FUNCTION)
		at = find_recursion(f->out, parent, n->scope);
	if (at == PROFILE_NONE) {
		at = find_child(f, parent, n, folds);
	} else {
		uint32_t levels = ++folds - f->folds_before.data[at];
		if (levels > f->levels.data[at])
			f->levels.data[at] = levels;
	}
	f->place[i] = at;
	f->folds[i] = folds;
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
	f.folds = xcalloc(t->nodes.len, sizeof(*f.folds));
	vec_push(&f.out->nodes, root);
	vec_push(&f.levels, 0);
	vec_push(&f.folds_before, 0);
	for (uint32_t i = 1; i < t->nodes.len; i++)
		place_node(&f, t, i);
	add_up(f.out);
	tree_link(f.out);
	out->levels = f.levels.data;
	hashmap_release(&f.children);
	vec_free(&f.folds_before);
	free(f.place);
	free(f.folds);
}

void folded_release(struct folded *f)
{
	tree_release(&f->tree);
	free(f->levels);
}
