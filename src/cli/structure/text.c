/* The structure for people: a tree as in figure 2 of Tallent et al. (PLDI 2009), a table of loops,
 * and counts. A large module has a million lines in this form, so the loops here avoid printf
 * formatting. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hashmap.h"
#include "base/vec.h"
#include "cli/structure/view.h"
#include "cli/term/output.h"

enum {
	SHOWN_RANGES = 4,
	SHOWN_CHAIN = 8,         /* inlined calls, the innermost ones */
	ADDRESS_COLUMNS = 18,    /* 0x and 16 digits */
	MAX_SOURCE_COLUMNS = 40, /* longer places are followed by one space */
};

static void add_name(struct text *out, enum style style, const char *name)
{
	output_style(out, style);
	output_name(out, name);
	output_style(out, STYLE_NONE);
}

/* " 12-80", " 12", or nothing if unknown. `before` is ' ' or ':'. */
static void add_lines(struct text *out, char before, uint32_t first, uint32_t last)
{
	if (!first)
		return;
	text_char(out, before);
	text_u64(out, first);
	if (last > first) {
		text_char(out, '-');
		text_u64(out, last);
	}
}

static void add_range(struct text *out, uint64_t start, uint64_t end)
{
	text_hex(out, start);
	text_char(out, '-');
	text_hex(out, end);
}

/* " [0x10-0x20, 0x30-0x34]". Ranges outside [start, end) are cold parts that the compiler split
 * off. */
static void add_ranges(const struct view *v, const struct scope *s, uint64_t start, uint64_t end,
		       struct text *out)
{
	const struct address_range *r = v->structure->ranges + s->first_range;
	if (!s->range_count)
		return;
	output_style(out, STYLE_ADDRESS);
	text_add(out, " [");
	for (uint32_t i = 0; i < s->range_count && i < SHOWN_RANGES; i++) {
		if (i)
			text_add(out, ", ");
		if (r[i].start < start || r[i].start >= end)
			text_add(out, "cold ");
		add_range(out, r[i].start, r[i].end);
	}
	if (s->range_count > SHOWN_RANGES) {
		text_add(out, " and ");
		text_u64(out, s->range_count - SHOWN_RANGES);
		text_add(out, " more");
	}
	text_char(out, ']');
	output_style(out, STYLE_NONE);
}

/* "foo.c:12-20" */
static void add_source_place(const struct view *v, uint32_t file, uint32_t first, uint32_t last,
			     struct text *out)
{
	output_name(out, file ? base_name(view_text(v, file)) : "?");
	add_lines(out, ':', first, last);
}

static void add_inline(const struct view *v, const struct scope *s, struct text *out)
{
	if (s->flags & SCOPE_ALIEN) {
		text_add(out, "inlined code of ");
		add_source_place(v, s->file, s->first_line, s->last_line, out);
		return;
	}
	text_add(out, "inlined ");
	add_name(out, STYLE_INLINE, s->name ? view_text(v, s->name) : "?");
	if (s->call_line) {
		text_add(out, " at ");
		add_source_place(v, s->call_file, s->call_line, s->call_line, out);
	}
	if (s->first_line) {
		text_add(out, " (");
		add_source_place(v, s->file, s->first_line, s->last_line, out);
		text_char(out, ')');
	}
}

static void add_loop(const struct view *v, const struct scope *s, uint32_t copies, struct text *out)
{
	output_style(out, STYLE_LOOP);
	text_add(out, s->flags & SCOPE_IRREDUCIBLE ? "irreducible loop" : "loop");
	if (s->first_line) {
		text_char(out, ' ');
		add_source_place(v, s->file, s->first_line, s->last_line, out);
	} else if (v->structure->has_lines && s->flags & SCOPE_NO_LINE)
		text_add(out, " compiler-generated");
	if (copies > 1) {
		text_add(out, " in ");
		text_u64(out, copies);
		text_add(out, " copies");
	}
	output_style(out, STYLE_NONE);
}

/* The file is written only if it differs from that of the enclosing scope. */
static void add_line(const struct view *v, const struct scope *s, struct text *out)
{
	text_add(out, "line ");
	if (s->parent != INDEX_NONE && v->structure->scopes[s->parent].file == s->file)
		text_u64(out, s->first_line);
	else
		add_source_place(v, s->file, s->first_line, s->first_line, out);
	if (s->last_line > s->first_line) {
		text_char(out, '-');
		text_u64(out, s->last_line);
	}
}

static void add_function(const struct view *v, const struct structure_function *p,
			 const struct scope *s, struct text *out)
{
	text_add(out, "function ");
	output_style(out, STYLE_NAME);
	if (p->name)
		output_name(out, view_text(v, p->name));
	else
		text_add(out, "(unnamed)");
	output_style(out, STYLE_NONE);
	add_lines(out, ' ', s->first_line, s->last_line);
}

/* Returns, by scope, the number of machine loops of each SCOPE_LOOP, at most 255. */
static uint8_t *count_copies(const struct structure *s)
{
	uint8_t *copies = xcalloc(s->scope_count, 1);
	for (uint32_t i = 0; i < s->loop_count; i++) {
		uint32_t scope = s->loops[i].scope;
		if (scope < s->scope_count && copies[scope] < UINT8_MAX)
			copies[scope]++;
	}
	return copies;
}

struct scope_writer {
	const struct view *view;
	const uint8_t *copies;
	struct text *out;
	VEC(uint32_t) ends; /* ends of the scopes that are open */
};

static void add_scopes(struct scope_writer *t, const struct structure_function *p)
{
	const struct scope *scopes = t->view->structure->scopes;
	vec_clear(&t->ends);
	for (uint32_t i = p->scope; i < scopes[p->scope].end; i++) {
		const struct scope *s = &scopes[i];
		while (t->ends.len && i >= vec_last(&t->ends))
			t->ends.len--;
		text_fill(t->out, ' ', 4 + 2 * (size_t)t->ends.len);
		vec_push(&t->ends, s->end);
		switch (s->kind) {
		case SCOPE_FUNCTION: add_function(t->view, p, s, t->out); break;
		case SCOPE_INLINE: add_inline(t->view, s, t->out); break;
		case SCOPE_LOOP: add_loop(t->view, s, t->copies[i], t->out); break;
		default: add_line(t->view, s, t->out); break;
		}
		add_ranges(t->view, s, p->start, p->end, t->out);
		text_char(t->out, '\n');
		output_flush(t->out);
	}
}

/* The functions of one file, linked in address order. */
struct file_group {
	uint32_t file;        /* text offset */
	uint32_t first, last; /* indices into the view's functions */
};

struct grouping {
	VEC(struct file_group) files;
	struct hashmap by_file; /* hash of path -> index in files */
	uint32_t *next;         /* by function of the view: the next one of the same file */
};

static void group_by_file(const struct view *v, struct grouping *g)
{
	g->next = xmalloc((v->count + 1) * sizeof(*g->next));
	for (uint32_t i = 0; i < v->count; i++) {
		const struct structure_function *p = &v->structure->functions[v->functions[i]];
		uint32_t file = v->structure->scopes[p->scope].file;
		const char *path = view_text(v, file);
		uint64_t key = hash_bytes(path, strlen(path), 0);
		uint32_t at = hashmap_add(&g->by_file, key, g->files.len);
		g->next[i] = INDEX_NONE;
		if (at == g->files.len)
			vec_push(&g->files, (struct file_group){file, i, i});
		else
			g->next[g->files.data[at].last] = i;
		g->files.data[at].last = i;
	}
}

static void add_module(const struct view *v, struct text *out)
{
	text_add(out, "module ");
	add_name(out, STYLE_HEADING, v->path);
	text_printf(out, " (%s", view_machine(v));
	if (v->structure->build_id.size) {
		char hex[65];
		build_id_hex(&v->structure->build_id, hex);
		text_printf(out, ", build id %s", hex);
	}
	text_add(out, v->structure->has_lines ? ")\n" : ", no debugging information)\n");
}

static void add_file(struct scope_writer *t, const struct grouping *g, const struct file_group *f)
{
	const struct view *v = t->view;
	text_add(t->out, "  file ");
	add_name(t->out, STYLE_HEADING, f->file ? view_text(v, f->file) : "unknown");
	text_char(t->out, '\n');
	for (uint32_t i = f->first; i != INDEX_NONE; i = g->next[i])
		add_scopes(t, &v->structure->functions[v->functions[i]]);
}

void view_tree(const struct view *v, struct text *out)
{
	uint8_t *copies = count_copies(v->structure);
	struct scope_writer t = {.view = v, .copies = copies, .out = out};
	struct grouping g = {0};
	group_by_file(v, &g);
	add_module(v, out);
	/* Code without source (startup code, PLTs) is listed last. */
	vec_each (f, &g.files)
		if (f->file)
			add_file(&t, &g, f);
	vec_each (f, &g.files)
		if (!f->file)
			add_file(&t, &g, f);
	vec_free(&g.files);
	hashmap_release(&g.by_file);
	free(g.next);
	vec_free(&t.ends);
	free(copies);
}

static void add_padded(struct text *out, uint64_t value, size_t width)
{
	size_t digits = 1;
	for (uint64_t v = value; v >= 10; v /= 10)
		digits++;
	text_fill(out, ' ', width > digits ? width - digits : 0);
	text_u64(out, value);
}

static void pad_column(struct text *out, size_t start, size_t width)
{
	size_t used = out->len - start;
	text_fill(out, ' ', used < width ? width - used : 1);
}

static void add_chain(const struct view *v, uint32_t scope, struct text *out)
{
	const struct scope *chain[SHOWN_CHAIN];
	uint32_t count = view_inline_chain(v, scope, chain, SHOWN_CHAIN);
	if (count > SHOWN_CHAIN)
		text_add(out, " > ...");
	for (uint32_t i = 0; i < count && i < SHOWN_CHAIN; i++) {
		text_add(out, " > ");
		if (chain[i]->flags & SCOPE_ALIEN)
			add_source_place(v, chain[i]->file, 0, 0, out);
		else
			add_name(out, STYLE_INLINE,
				 chain[i]->name ? view_text(v, chain[i]->name) : "?");
		if (!chain[i]->call_line)
			continue;
		text_add(out, " (");
		add_source_place(v, chain[i]->call_file, chain[i]->call_line, chain[i]->call_line,
				 out);
		text_char(out, ')');
	}
}

static void add_loop_source(const struct view *v, const struct machine_loop *l, struct text *out)
{
	const struct scope *s = &v->structure->scopes[l->scope];
	if (s->first_line)
		add_source_place(v, s->file, s->first_line, s->last_line, out);
	else
		text_add(out,
			 v->structure->has_lines && s->flags & SCOPE_NO_LINE ? "(compiler)" : "-");
}

static void add_loop_row(const struct view *v, const struct structure_function *p,
			 const struct machine_loop *l, size_t source_width, struct text *out)
{
	size_t start = out->len;
	text_hex(out, l->header);
	pad_column(out, start, ADDRESS_COLUMNS);
	start = out->len;
	add_loop_source(v, l, out);
	pad_column(out, start, source_width + 2);
	add_padded(out, l->depth, 5);
	add_padded(out, l->block_count, 7);
	add_padded(out, l->bytes, 8);
	add_padded(out, l->call_count, 6);
	text_add(out, l->irreducible ? "  ! " : "    ");
	add_name(out, STYLE_NAME, p->name ? view_text(v, p->name) : "?");
	add_chain(v, l->scope, out);
	text_char(out, '\n');
	output_flush(out);
}

static size_t widest_source(const struct view *v)
{
	struct text t = TEXT_INIT;
	size_t width = strlen("source");
	for (uint32_t i = 0; i < v->count; i++) {
		const struct structure_function *p = &v->structure->functions[v->functions[i]];
		for (uint32_t k = 0; k < p->loop_count; k++) {
			text_clear(&t);
			add_loop_source(v, &v->structure->loops[p->first_loop + k], &t);
			width = t.len > width ? t.len : width;
		}
	}
	text_release(&t);
	return width < MAX_SOURCE_COLUMNS ? width : MAX_SOURCE_COLUMNS;
}

void view_loops(const struct view *v, struct text *out)
{
	size_t width = widest_source(v);
	add_module(v, out);
	output_style(out, STYLE_HEADING);
	text_printf(out, "%-18s%-*sdepth blocks   bytes calls    function > inlined calls\n",
		    "loop", (int)width + 2, "source");
	output_style(out, STYLE_NONE);
	for (uint32_t i = 0; i < v->count; i++) {
		const struct structure_function *p = &v->structure->functions[v->functions[i]];
		for (uint32_t k = 0; k < p->loop_count; k++)
			add_loop_row(v, p, &v->structure->loops[p->first_loop + k], width, out);
	}
}

static void add_stat(struct text *out, const char *what, uint64_t value)
{
	text_printf(out, "  %-28s", what);
	add_padded(out, value, 12);
	text_char(out, '\n');
}

static void add_found(const struct view *v, const struct view_counts *c, struct text *out)
{
	add_stat(out, "functions", v->count);
	text_printf(out, "  %-28s%12s%20s\n", "  found by", "all", "by none above");
	for (unsigned method = 0; method < FOUND_METHODS; method++) {
		if (!c->found[method])
			continue;
		text_printf(out, "    %-26s", found_by_name[method]);
		add_padded(out, c->found[method], 12);
		add_padded(out, c->first[method], 20);
		text_char(out, '\n');
	}
}

static void add_times(const struct view *v, struct text *out)
{
	const struct structure_stats *t = &v->structure->stats;
	const struct {
		const char *what;
		double seconds;
	} phases[] = {
		{"reading the module", t->seconds_module},
		{"debugging information", t->seconds_debug},
		{"functions, flow, loops", t->seconds_flow},
		{"source structure", t->seconds_structure},
	};
	text_add(out, "  seconds\n");
	for (size_t i = 0; i < ARRAY_SIZE(phases); i++)
		text_printf(out, "    %-26s%12.3f\n", phases[i].what, phases[i].seconds);
	text_printf(out, "  %-28s%12.1f MB\n", "peak memory", (double)t->peak_memory / 1e6);
	text_printf(out, "  %-28s%12s\n", "from the cache", v->structure->cached ? "yes" : "no");
}

void view_stats(const struct view *v, struct text *out)
{
	struct view_counts c;
	view_count(v, &c);
	add_module(v, out);
	add_found(v, &c, out);
	add_stat(out, "  that do not return", c.noreturn);
	add_stat(out, "code bytes", c.bytes);
	add_stat(out, "instructions", c.instructions);
	add_stat(out, "blocks", c.blocks);
	add_stat(out, "  not decodable", c.bad);
	add_stat(out, "jump tables", c.tables);
	add_stat(out, "unresolved indirect jumps", c.unresolved);
	add_stat(out, "loops", c.loops);
	for (unsigned d = 0; d < VIEW_DEPTHS; d++) {
		char what[32];
		snprintf(what, sizeof(what), "  depth %u%s", d + 1,
			 d + 1 == VIEW_DEPTHS ? " and more" : "");
		if (c.by_depth[d])
			add_stat(out, what, c.by_depth[d]);
	}
	add_stat(out, "  irreducible", c.irreducible);
	add_stat(out, "source loops", c.source_loops);
	add_stat(out, "inlined calls", c.inlined);
	add_times(v, out);
}
