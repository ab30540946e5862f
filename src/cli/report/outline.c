#include "cli/report/outline.h"

#include <stdlib.h>
#include <string.h>

const char *const outline_kind_name[OUTLINE_KINDS] = {
	[OUTLINE_ROOT] = "root",
	[OUTLINE_MODULE] = "module",
	[OUTLINE_FILE] = "file",
	[OUTLINE_FUNCTION] = "function",
	[OUTLINE_INLINE] = "inlined",
	[OUTLINE_LOOP] = "loop",
	[OUTLINE_LINE] = "line",
	[OUTLINE_KERNEL] = "kernel",
	[OUTLINE_WAIT] = "wait",
	[OUTLINE_PARTIAL] = "partial",
	[OUTLINE_OUTSIDE] = "outside loops",
	[OUTLINE_REST] = "more",
};

static const uint8_t of_tree[] = {
	[TREE_ROOT] = OUTLINE_ROOT,     [TREE_FUNCTION] = OUTLINE_FUNCTION,
	[TREE_INLINE] = OUTLINE_INLINE, [TREE_LOOP] = OUTLINE_LOOP,
	[TREE_LINE] = OUTLINE_LINE,     [TREE_KERNEL] = OUTLINE_KERNEL,
	[TREE_WAIT] = OUTLINE_WAIT,     [TREE_PARTIAL] = OUTLINE_PARTIAL,
};

static const uint8_t of_flat[] = {
	[FLAT_MODULE] = OUTLINE_MODULE,     [FLAT_FILE] = OUTLINE_FILE,
	[FLAT_FUNCTION] = OUTLINE_FUNCTION, [FLAT_INLINE] = OUTLINE_INLINE,
	[FLAT_LOOP] = OUTLINE_LOOP,         [FLAT_LINE] = OUTLINE_LINE,
};

uint32_t outline_add(struct outline *o, struct outline_node n)
{
	n.first_child = n.next = PROFILE_NONE;
	vec_push(&o->nodes, n);
	return o->nodes.len - 1;
}

void outline_release(struct outline *o)
{
	vec_free(&o->nodes);
}

void outline_from_tree(struct outline *o, const struct tree *t)
{
	*o = (struct outline){0};
	vec_each (n, &t->nodes) {
		struct outline_node copy = {
			.parent = n->parent,
			.scope = n->scope,
			.kind = of_tree[n->kind],
			.self = n->self,
			.total = n->total,
			.self_samples = n->self_samples,
			.total_samples = n->total_samples,
		};
		outline_add(o, copy);
	}
}

void outline_from_folded(struct outline *o, const struct folded *f)
{
	outline_from_tree(o, &f->tree);
	for (uint32_t i = 0; i < o->nodes.len; i++)
		o->nodes.data[i].levels = f->levels[i];
}

void outline_from_flat(struct outline *o, const struct flat *f)
{
	*o = (struct outline){.overlapping = true};
	outline_add(o, (struct outline_node){.parent = PROFILE_NONE, .scope = PROFILE_NONE});
	vec_each (row, &f->rows) {
		bool named = row->kind == FLAT_MODULE || row->kind == FLAT_FILE;
		struct outline_node n = {
			.parent = row->parent == PROFILE_NONE ? 0 : row->parent + 1,
			.scope = row->scope,
			.kind = of_flat[row->kind],
			.name = named ? row->name : NULL,
			.self = row->self,
			.total = row->total,
			.self_samples = row->self_samples,
			.total_samples = row->total_samples,
		};
		outline_add(o, n);
	}
}

void outline_remove(struct outline *o, const bool *away)
{
	uint32_t *place = xcalloc(o->nodes.len, sizeof(*place));
	uint32_t kept = 1;
	for (uint32_t i = 1; i < o->nodes.len; i++) {
		struct outline_node n = o->nodes.data[i];
		n.parent = place[n.parent];
		place[i] = away[i] ? n.parent : kept;
		if (!away[i])
			o->nodes.data[kept++] = n;
	}
	o->nodes.len = kept;
	free(place);
}

static bool is_unnamed(const struct outline_node *n, const struct profile *p)
{
	return n->kind == OUTLINE_FUNCTION && p->scopes.data[n->scope].flags & PROFILE_UNNAMED;
}

/* Marks startup code. _start has no name in a stripped program, but it is the caller of the C
 * library's startup function. */
static bool *find_startup(const struct outline *o, const struct profile *p)
{
	bool *startup = xcalloc(o->nodes.len, sizeof(*startup));
	for (uint32_t i = 1; i < o->nodes.len; i++) {
		const struct outline_node *n = &o->nodes.data[i];
		startup[i] = is_startup(p, n->scope);
		if (o->no_self && startup[n->parent] && is_unnamed(n, p))
			startup[i] = true;
		const struct outline_node *parent = &o->nodes.data[n->parent];
		if (!o->no_self && startup[i] && parent->parent == 0 && is_unnamed(parent, p))
			startup[n->parent] = true;
	}
	return startup;
}

bool outline_is_startup(const struct outline *o, uint32_t node, const struct profile *p)
{
	const struct outline_node *n = &o->nodes.data[node];
	bool unnamed = n->parent == 0 && n->first_child != PROFILE_NONE && is_unnamed(n, p);
	return is_startup(p, unnamed ? o->nodes.data[n->first_child].scope : n->scope);
}

/* In an outline of callers (no_self), startup code is at the ends of paths. In an outline of calls
 * it is at the top, and is kept if it has a self amount. */
void outline_skip_startup(struct outline *o, const struct profile *p)
{
	bool *startup = find_startup(o, p), *away = xcalloc(o->nodes.len, sizeof(*away));
	for (uint32_t i = 1; i < o->nodes.len; i++) {
		const struct outline_node *n = &o->nodes.data[i];
		away[i] = startup[i] && (o->no_self ? n->parent != 0 : !n->self);
	}
	free(startup);
	outline_remove(o, away);
	free(away);
}

/* The sort key of a node. */
struct sort_key {
	uint32_t node, parent;
	uint64_t first, second; /* in descending order */
	const char *name;
	uint32_t line;
};

static int compare_keys(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;
	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	int order = strcmp(x->name, y->name);
	if (order)
		return order;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->first != y->first)
		return x->first > y->first ? -1 : 1;
	if (x->second != y->second)
		return x->second > y->second ? -1 : 1;
	return x->node < y->node ? -1 : 1;
}

static struct sort_key sort_key(const struct outline *o, uint32_t i, const struct profile *p,
				enum report_sort sort)
{
	const struct outline_node *n = &o->nodes.data[i];
	struct sort_key k = {i, n->parent, n->total, n->self, "", 0};
	/* The default is self for modules, files and functions, total for what is inside
	 * functions. */
	bool outer = o->overlapping && n->kind <= OUTLINE_FUNCTION;
	if (sort == SORT_SELF || (sort == SORT_BEST && outer)) {
		k.first = n->self;
		k.second = n->total;
	}
	if (n->kind == OUTLINE_REST)
		k.first = k.second = 0;
	if (sort == SORT_NAME && n->scope != PROFILE_NONE) {
		const struct profile_scope *s = &p->scopes.data[n->scope];
		k.name = *s->name ? s->name : s->file;
		k.line = s->first_line;
	} else if (sort == SORT_NAME) {
		k.name = n->name ? n->name : outline_kind_name[n->kind];
	}
	return k;
}

void outline_link(struct outline *o, const struct profile *p, enum report_sort sort)
{
	uint32_t n = o->nodes.len;
	struct sort_key *keys = xcalloc(n, sizeof(*keys));
	for (uint32_t i = 1; i < n; i++)
		keys[i] = sort_key(o, i, p, sort);
	qsort(keys + 1, n - 1, sizeof(*keys), compare_keys);
	for (uint32_t i = n; i-- > 1;) {
		struct outline_node *parent = &o->nodes.data[keys[i].parent];
		o->nodes.data[keys[i].node].next = parent->first_child;
		parent->first_child = keys[i].node;
	}
	free(keys);
}

static bool is_shown(const struct outline_node *n, const struct report *r)
{
	double least = r->min_share * (double)r->total;
	return n->kind == OUTLINE_REST || (double)n->total >= least || (double)n->self >= least;
}

/* Adds a row for the children that are too small for rows of their own. */
static void add_hidden(const struct outline *o, const struct report *r, struct outline_row row,
		       uint32_t parent, struct outline_rows *out)
{
	row.node = PROFILE_NONE;
	for (uint32_t i = o->nodes.data[parent].first_child; i != PROFILE_NONE;
	     i = o->nodes.data[i].next) {
		const struct outline_node *n = &o->nodes.data[i];
		if (is_shown(n, r))
			continue;
		row.hidden++;
		row.amount += o->overlapping ? n->self : n->total;
	}
	if ((double)row.amount * REPORT_RESOLUTION >= (double)r->total && row.hidden)
		vec_push(&out->list, row);
}

void outline_rows(const struct outline *o, const struct report *r, struct outline_rows *out)
{
	const struct outline_node *nodes = o->nodes.data;
	uint32_t at = nodes[0].first_child;
	struct outline_row row = {.parent = PROFILE_NONE};
	while (at != PROFILE_NONE) {
		row.node = at;
		bool shown = is_shown(&nodes[at], r) && row.depth < r->depth;
		if (shown)
			vec_push(&out->list, row);
		if (shown && nodes[at].first_child != PROFILE_NONE && row.depth + 1 < r->depth) {
			row.parent = out->list.len - 1;
			row.depth++;
			at = nodes[at].first_child;
			continue;
		}
		while (at && nodes[at].next == PROFILE_NONE) {
			add_hidden(o, r, row, nodes[at].parent, out);
			at = nodes[at].parent;
			if (at) {
				row.depth--;
				row.parent = out->list.data[row.parent].parent;
			}
		}
		at = at ? nodes[at].next : PROFILE_NONE;
	}
}

/* Returns, by node, a hash of the path from the root to it. It is the same in outlines of other
 * threads. */
static uint64_t *hash_paths(const struct outline *o)
{
	uint64_t *hashes = xcalloc(o->nodes.len, sizeof(*hashes));
	for (uint32_t i = 1; i < o->nodes.len; i++) {
		const struct outline_node *n = &o->nodes.data[i];
		const uint32_t step[] = {n->scope, n->kind};
		const char *name = n->name ? n->name : "";
		uint64_t h = hash_bytes(step, sizeof(step), hashes[n->parent]);
		hashes[i] = hash_bytes(name, strlen(name), h);
	}
	return hashes;
}

/* Threads shown by --per-thread: in JSON and CSV, and as columns of text. */
enum { MAX_THREADS = 64, MAX_THREAD_COLUMNS = 6 };

void outline_by_thread(const struct outline *o, const struct report *r, outline_build build,
		       struct outline_threads *out)
{
	uint32_t most = r->format == REPORT_TEXT ? MAX_THREAD_COLUMNS : MAX_THREADS;
	struct hashmap nodes = {0};
	uint64_t *hashes = hash_paths(o);
	for (uint32_t i = 0; i < o->nodes.len; i++)
		hashmap_put(&nodes, hashes[i], i);
	free(hashes);
	*out = (struct outline_threads){0};
	out->count = report_top_threads(r, &out->threads);
	out->count = out->count < most ? out->count : most;
	out->amounts = xcalloc((size_t)o->nodes.len * (out->count + 1), sizeof(*out->amounts));
	for (uint32_t t = 0; t < out->count; t++) {
		struct report single = *r;
		struct outline part;
		single.thread = out->threads[t];
		report_tree(&single, true, &single.tree);
		build(&single, &part);
		hashes = hash_paths(&part);
		for (uint32_t i = 0; i < part.nodes.len; i++) {
			uint32_t node = hashmap_get(&nodes, hashes[i]);
			const struct outline_node *n = &part.nodes.data[i];
			if (node != HASHMAP_NONE)
				out->amounts[(size_t)node * out->count + t] =
					(struct outline_amount){n->self, n->total};
		}
		free(hashes);
		outline_release(&part);
		tree_release(&single.tree);
	}
	hashmap_release(&nodes);
}

void outline_threads_release(struct outline_threads *t)
{
	free(t->threads);
	free(t->amounts);
}
