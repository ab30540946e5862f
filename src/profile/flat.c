/* One walk over the tree. A row's total is taken from the outermost of its nodes on each path:
 * while the walk is below that node the row is active, and active rows are not added to again. */
#include "profile/flat.h"

#include <string.h>

#include "profile/rank.h"

struct flattening {
	struct flat *f;
	const struct tree *t;
	const struct profile *p;
	uint32_t *row_of;   /* by scope; PROFILE_NONE until it has a row */
	uint32_t *scope_at; /* by tree node: the scope that its self counts for, or PROFILE_NONE */
	VEC(uint32_t) active;          /* by row: number of its nodes on the current path */
	struct hashmap modules, files; /* module, and hash of module and file -> row */
};

static uint32_t add_row(struct flattening *x, uint32_t parent, enum flat_kind kind, uint32_t module,
			const char *name)
{
	vec_push(&x->f->rows, (struct flat_row){.parent = parent,
						.first_child = PROFILE_NONE,
						.next = PROFILE_NONE,
						.scope = PROFILE_NONE,
						.module = module,
						.name = name,
						.kind = (uint8_t)kind});
	vec_push(&x->active, 0);
	return x->f->rows.len - 1;
}

static uint32_t module_row(struct flattening *x, uint32_t module)
{
	uint32_t row = hashmap_get(&x->modules, module);
	if (row != HASHMAP_NONE)
		return row;
	const char *path = module == PROFILE_NONE ? "" : x->p->modules.data[module].path;
	row = add_row(x, PROFILE_NONE, FLAT_MODULE, module, path);
	return hashmap_add(&x->modules, module, row);
}

static uint32_t file_row(struct flattening *x, const struct profile_scope *s)
{
	uint64_t key = hash_bytes(s->file, strlen(s->file), s->module);
	uint32_t row = hashmap_get(&x->files, key);
	if (row != HASHMAP_NONE)
		return row;
	row = add_row(x, module_row(x, s->module), FLAT_FILE, s->module, s->file);
	return hashmap_add(&x->files, key, row);
}

/* Returns a scope's row, below the row of the scope around it, which the walk has visited
 * before. */
static uint32_t scope_row(struct flattening *x, uint32_t scope)
{
	static const uint8_t kinds[] = {[PROFILE_FUNCTION] = FLAT_FUNCTION,
					[PROFILE_INLINE] = FLAT_INLINE,
					[PROFILE_LOOP] = FLAT_LOOP,
					[PROFILE_LINE] = FLAT_LINE};
	const struct profile_scope *s = &x->p->scopes.data[scope];
	if (x->row_of[scope] != PROFILE_NONE)
		return x->row_of[scope];
	uint32_t parent = s->parent == PROFILE_NONE ? file_row(x, s) : x->row_of[s->parent];
	uint32_t row = add_row(x, parent, kinds[s->kind], s->module, s->name);
	x->f->rows.data[row].scope = scope;
	x->row_of[scope] = row;
	return row;
}

static void enter_row(struct flattening *x, uint32_t row, const struct tree_node *n)
{
	if (x->active.data[row]++)
		return;
	x->f->rows.data[row].total += n->total;
	x->f->rows.data[row].total_samples += n->total_samples;
}

/* A function's node also counts for the rows of its file and module. */
static void enter_node(struct flattening *x, const struct tree_node *n)
{
	uint32_t row = scope_row(x, n->scope);
	enter_row(x, row, n);
	if (n->kind != TREE_FUNCTION)
		return;
	for (row = x->f->rows.data[row].parent; row != PROFILE_NONE;
	     row = x->f->rows.data[row].parent)
		enter_row(x, row, n);
}

static void leave_node(struct flattening *x, const struct tree_node *n)
{
	uint32_t row = x->row_of[n->scope];
	x->active.data[row]--;
	if (n->kind != TREE_FUNCTION)
		return;
	for (row = x->f->rows.data[row].parent; row != PROFILE_NONE;
	     row = x->f->rows.data[row].parent)
		x->active.data[row]--;
}

/* Adds a node's self to the row of `scope` and to all rows around it, but only to the innermost
 * loop. */
static void add_self(struct flattening *x, uint32_t scope, const struct tree_node *n)
{
	bool in_loop = false;
	for (uint32_t i = x->row_of[scope]; i != PROFILE_NONE; i = x->f->rows.data[i].parent) {
		struct flat_row *r = &x->f->rows.data[i];
		if (r->kind == FLAT_LOOP && in_loop)
			continue;
		in_loop |= r->kind == FLAT_LOOP;
		r->self += n->self;
		r->self_samples += n->self_samples;
	}
}

/* Work of the kernel counts for the code from which it was entered. */
static uint32_t find_scope(const struct flattening *x, const struct tree_node *n)
{
	bool kernel = n->kind == TREE_KERNEL || n->kind == TREE_WAIT;
	return kernel ? x->scope_at[n->parent] : n->scope;
}

static void walk(struct flattening *x)
{
	x->scope_at[0] = PROFILE_NONE;
	for (struct tree_step s = {0}; tree_walk(x->t, &s);) {
		const struct tree_node *n = &x->t->nodes.data[s.node];
		if (n->scope != PROFILE_NONE && s.leaving)
			leave_node(x, n);
		if (s.leaving)
			continue;
		if (n->scope != PROFILE_NONE)
			enter_node(x, n);
		x->scope_at[s.node] = find_scope(x, n);
		if (x->scope_at[s.node] != PROFILE_NONE)
			add_self(x, x->scope_at[s.node], n);
	}
}

static void link_rows(struct flat *f)
{
	uint32_t *order = RANK_BY(f->rows.data, f->rows.len, total);
	for (uint32_t i = 0; i < f->rows.len; i++) {
		struct flat_row *r = &f->rows.data[order[i]];
		if (r->parent == PROFILE_NONE)
			continue;
		r->next = f->rows.data[r->parent].first_child;
		f->rows.data[r->parent].first_child = order[i];
	}
	free(order);
}

void flat_build(struct flat *f, const struct tree *t)
{
	struct flattening x = {.f = f, .t = t, .p = t->profile};
	size_t size = (x.p->scopes.len + (size_t)1) * sizeof(*x.row_of);
	*f = (struct flat){0};
	x.row_of = memset(xmalloc(size), 0xff, size);
	x.scope_at = xmalloc(t->nodes.len * sizeof(*x.scope_at));
	walk(&x);
	link_rows(f);
	free(x.row_of);
	free(x.scope_at);
	vec_free(&x.active);
	hashmap_release(&x.modules);
	hashmap_release(&x.files);
}

void flat_release(struct flat *f)
{
	vec_free(&f->rows);
}
