/* Source text with shares in the margin: the lines that have a share, and a few around them. */
#include <stdlib.h>
#include <string.h>

#include "cli/report/source.h"
#include "cli/report/view.h"
#include "cli/term/text.h"

enum { CONTEXT = 3 }; /* lines shown before and after one with a share */

struct annotated_line {
	const char *file;
	uint32_t line;
	uint64_t self, total;
};

struct annotated_file {
	uint32_t first, count; /* its range in lines.list */
	uint64_t self;
};

struct lines {
	VEC(struct annotated_line) list;  /* sorted by file, then line */
	VEC(struct annotated_file) files; /* by self, largest first */
};

static int by_place(const void *a, const void *b)
{
	const struct annotated_line *x = a, *y = b;
	int order = strcmp(x->file, y->file);
	if (order)
		return order;
	return x->line < y->line ? -1 : x->line > y->line;
}

static int by_self(const void *a, const void *b)
{
	const struct annotated_file *x = a, *y = b;
	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	return x->first < y->first ? -1 : 1;
}

/* The lines collected during a walk over the tree. One line may be in many scopes: copies of
 * inlined code, unrolled loops, recursion. Its total is taken from its outermost node on each
 * path. */
struct line_gathering {
	struct lines *out;
	struct hashmap index;
	VEC(uint32_t) active; /* by line: its number of nodes on the current path */
	uint32_t *line_of;    /* by tree node; PROFILE_NONE if it has no line */
};

static uint32_t find_line(struct line_gathering *g, const char *file, uint32_t line)
{
	uint32_t fresh = g->out->list.len;
	if (!*file || !line)
		return PROFILE_NONE;
	uint32_t i = hashmap_add(&g->index, hash_bytes(file, strlen(file), line), fresh);
	if (i == fresh) {
		vec_push(&g->out->list, (struct annotated_line){file, line, 0, 0});
		vec_push(&g->active, 0);
	}
	return i;
}

/* Returns the line of a node: its own, or that of the inlined call. Work of the kernel counts for
 * the line that entered it. */
static uint32_t line_of(struct line_gathering *g, const struct tree *t, const struct tree_node *n)
{
	const struct profile_scope *s =
		n->scope == PROFILE_NONE ? NULL : &t->profile->scopes.data[n->scope];
	if (n->kind == TREE_LINE)
		return find_line(g, s->file, s->first_line);
	if (n->kind == TREE_INLINE)
		return find_line(g, s->call_file, s->call_line);
	bool kernel = n->kind == TREE_KERNEL || n->kind == TREE_WAIT;
	return kernel && n->parent ? g->line_of[n->parent] : PROFILE_NONE;
}

static void gather_lines(struct line_gathering *g, const struct tree *t)
{
	for (struct tree_step step = {0}; tree_walk(t, &step);) {
		const struct tree_node *n = &t->nodes.data[step.node];
		if (!step.leaving)
			g->line_of[step.node] = line_of(g, t, n);
		uint32_t i = g->line_of[step.node];
		if (i == PROFILE_NONE)
			continue;
		if (step.leaving) {
			g->active.data[i]--;
			continue;
		}
		g->out->list.data[i].self += n->kind == TREE_INLINE ? 0 : n->self;
		g->out->list.data[i].total += g->active.data[i]++ ? 0 : n->total;
	}
}

static void collect(struct lines *l, const struct report *r)
{
	struct line_gathering g = {.out = l};
	g.line_of = xcalloc(r->tree.nodes.len + 1, sizeof(*g.line_of));
	gather_lines(&g, &r->tree);
	free(g.line_of);
	hashmap_release(&g.index);
	vec_free(&g.active);
	if (l->list.len)
		qsort(l->list.data, l->list.len, sizeof(*l->list.data), by_place);
	for (uint32_t i = 0; i < l->list.len; i++) {
		const struct annotated_line *x = &l->list.data[i];
		if (!l->files.len || strcmp(l->list.data[i - 1].file, x->file) != 0)
			vec_push(&l->files, (struct annotated_file){.first = i});
		vec_last(&l->files).count++;
		vec_last(&l->files).self += x->self;
	}
	if (l->files.len)
		qsort(l->files.data, l->files.len, sizeof(*l->files.data), by_self);
}

static void lines_release(struct lines *l)
{
	vec_free(&l->list);
	vec_free(&l->files);
}

static void add_line(const struct report *r, const struct annotated_line *x, uint32_t number,
		     const char *source, struct text *out)
{
	add_share(out, x ? x->total : 0, r->total);
	add_share(out, x ? x->self : 0, r->total);
	text_printf(out, " %6u", number);
	text_add(out, source ? " | " : "");
	size_t start = out->len;
	for (const char *c = source ? source : ""; *c; c++) {
		if (*c == '\t')
			text_fill(out, ' ', 8 - (out->len - start) % 8);
		else if (*c != '\r')
			output_name(out, (const char[]){*c, '\0'});
	}
	text_char(out, '\n');
}

/* Shows the source around lines that have a share, and "..." where lines in between are left
 * out. */
static void add_file_lines(const struct report *r, const struct annotated_line *lines,
			   uint32_t count, const struct source_file *s, struct text *out)
{
	uint32_t next = 0; /* the line after the last one shown */
	for (uint32_t i = 0; i < count; i++) {
		uint32_t from = lines[i].line > CONTEXT ? lines[i].line - CONTEXT : 1;
		uint32_t limit = i + 1 < count ? lines[i + 1].line : UINT32_MAX;
		if (s->bytes && next && from > next)
			text_add(out, "                    ...\n");
		from = from > next ? from : next;
		for (uint32_t n = from; s->bytes && n < lines[i].line; n++)
			add_line(r, NULL, n, source_line(s, n), out);
		add_line(r, &lines[i], lines[i].line, source_line(s, lines[i].line), out);
		for (next = lines[i].line + 1; next < limit && next <= lines[i].line + CONTEXT;
		     next++)
			if (source_line(s, next))
				add_line(r, NULL, next, source_line(s, next), out);
		output_flush(out);
	}
}

static void add_annotated(const struct report *r, const char *path,
			  const struct annotated_line *lines, uint32_t count,
			  const struct source_file *s, struct text *out)
{
	static const struct source_file none;
	text_char(out, '\n');
	output_style(out, STYLE_HEADING);
	add_path(out, path, SIZE_MAX);
	output_style(out, STYLE_NONE);
	text_char(out, '\n');
	if (!s)
		text_add(out, "(source not found; --source-path=DIR names its folder)\n");
	text_add(out, "  total   self   line\n");
	add_file_lines(r, lines, count, s ? s : &none, out);
}

/* Shows a file if its self is large enough. A file with a small self is shown if its source is
 * available and one of its lines has a tenth of the total: often that is the user's own code, which
 * calls libraries. Returns false if the file was not shown. */
static bool add_file(const struct report *r, const struct lines *l, const struct annotated_file *f,
		     struct text *out)
{
	struct source_file s;
	VEC(struct annotated_line) shown = {0};
	const char *path = l->list.data[f->first].file;
	bool has_hot_line = false, has_self = (double)f->self >= r->min_share * (double)r->total;
	for (uint32_t i = 0; i < f->count; i++) {
		const struct annotated_line *x = &l->list.data[f->first + i];
		has_hot_line |= x->total >= r->total / 10;
		if ((double)x->total >= r->min_share * (double)r->total)
			vec_push(&shown, *x);
	}
	bool found = (has_self || has_hot_line) && source_open(&s, path, r->args->source_path);
	if (has_self || found)
		add_annotated(r, path, shown.data, shown.len, found ? &s : NULL, out);
	if (has_self || has_hot_line)
		source_close(&s);
	vec_free(&shown);
	return has_self || found;
}

void lines_text(const struct report *r, struct text *out)
{
	struct lines l = {0};
	uint64_t rest = 0;
	collect(&l, r);
	vec_each (f, &l.files) {
		if (!add_file(r, &l, f, out))
			rest += f->self;
	}
	if (!l.files.len)
		text_add(out, "No source lines are known: the programs and libraries have no "
			      "debugging information.\n");
	if ((double)rest * REPORT_RESOLUTION > (double)r->total) {
		add_share(out, rest, r->total);
		text_add(out, " in other files\n");
	}
	lines_release(&l);
}

void lines_json(const struct report *r, struct json *j)
{
	struct lines l = {0};
	collect(&l, r);
	json_array(j, "lines");
	vec_each (x, &l.list) {
		if ((double)x->total < r->min_share * (double)r->total)
			continue;
		json_object(j, NULL);
		json_string(j, "file", x->file);
		json_u64(j, "line", x->line);
		json_u64(j, "self", x->self);
		json_u64(j, "total", x->total);
		json_quantity(j, "self_percent", A_PERCENT, percent_of(x->self, r->total), 3);
		json_quantity(j, "total_percent", A_PERCENT, percent_of(x->total, r->total), 3);
		json_end(j);
	}
	json_end(j);
	lines_release(&l);
}
