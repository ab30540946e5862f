/* Outlines as text, JSON and CSV. */
#include <string.h>

#include "cli/report/outline.h"
#include "cli/term/text.h"

/* More guides than this would leave no room for labels. */
enum { MAX_GUIDES = 24, MIN_LABEL = 40 };

static const struct {
	const char *word;
	enum style style;
} looks[OUTLINE_KINDS] = {
	[OUTLINE_MODULE] = {"", STYLE_HEADING},
	[OUTLINE_FILE] = {"", STYLE_NONE},
	[OUTLINE_FUNCTION] = {"", STYLE_NAME},
	[OUTLINE_INLINE] = {"inlined ", STYLE_INLINE},
	[OUTLINE_LOOP] = {"loop ", STYLE_LOOP},
	[OUTLINE_LINE] = {"line ", STYLE_NONE},
	[OUTLINE_KERNEL] = {"[in the kernel]", STYLE_NONE},
	[OUTLINE_WAIT] = {"[waiting]", STYLE_NONE},
	[OUTLINE_PARTIAL] = {"[callers unknown]", STYLE_NONE},
	[OUTLINE_OUTSIDE] = {"[outside of loops]", STYLE_NONE},
	[OUTLINE_REST] = {"... more", STYLE_NONE},
};

void outline_place(const struct profile *p, const struct outline_node *n, struct text *out)
{
	const struct profile_scope *s = &p->scopes.data[n->scope];
	if (!*s->name && !s->first_line) {
		text_hex(out, s->address);
		text_char(out, ' ');
	}
	add_scope_place(out, p, s);
}

/* Adds the text after the name: place, recursion. */
static void add_suffix(const struct profile *p, const struct outline_node *n, struct text *out)
{
	text_add(out, *p->scopes.data[n->scope].name ? "  " : "");
	outline_place(p, n, out);
	if (n->levels) {
		text_add(out, " (recursive, ");
		add_counted(out, n->levels, "more level)", "more levels)");
	}
}

void outline_label(const struct profile *p, const struct outline_node *n, size_t width,
		   struct text *out)
{
	const struct profile_scope *s = n->scope == PROFILE_NONE ? NULL : &p->scopes.data[n->scope];
	const char *word = looks[n->kind].word, *name = s ? s->name : n->name ? n->name : "";
	struct text suffix = TEXT_INIT;
	if (s && s->flags & PROFILE_ALIEN)
		word = "inlined code ";
	else if (s && s->flags & PROFILE_IRREDUCIBLE)
		word = "irreducible loop ";
	if (n->kind == OUTLINE_MODULE || n->kind == OUTLINE_FILE)
		name = *name ? name : "(unknown file)";
	if (s)
		add_suffix(p, n, &suffix);
	size_t used = strlen(word) + text_columns(suffix.data, suffix.len);
	output_style(out, looks[n->kind].style);
	text_add(out, word);
	size_t left = width > used + 16 ? width - used : 16;
	if (n->kind == OUTLINE_MODULE || n->kind == OUTLINE_FILE)
		add_path(out, name, left);
	else
		add_function_name(out, name, left);
	if (*name)
		output_style(out, STYLE_NONE);
	text_addn(out, suffix.len ? suffix.data : "", suffix.len);
	output_style(out, STYLE_NONE);
	text_release(&suffix);
}

static void add_thread_shares(const struct outline_threads *t, uint32_t node,
			      const struct report *r, struct text *out)
{
	for (uint32_t i = 0; t && i < t->count; i++) {
		if (node == PROFILE_NONE)
			text_fill(out, ' ', 7);
		else
			add_share(out, t->amounts[(size_t)node * t->count + i].total, r->total);
	}
}

static void add_guides(uint32_t depth, struct text *out)
{
	output_style(out, STYLE_ADDRESS);
	for (uint32_t i = 0; i < depth && i < MAX_GUIDES; i++)
		text_add(out, "| ");
	if (depth > MAX_GUIDES)
		text_printf(out, "+%u ", depth - MAX_GUIDES);
	output_style(out, STYLE_NONE);
}

static void add_heading(const struct outline *o, const struct report *r,
			const struct outline_threads *t, struct text *out)
{
	output_style(out, STYLE_HEADING);
	text_add(out, o->no_self ? "  share" : "  total   self");
	for (uint32_t i = 0; t && i < t->count; i++)
		text_printf(out, "%7d", r->profile->threads.data[t->threads[i]].tid);
	output_style(out, STYLE_NONE);
	text_char(out, '\n');
}

static void add_row(const struct outline *o, const struct outline_row *row, const struct report *r,
		    const struct outline_threads *t, struct text *out)
{
	const struct outline_node *n = row->node == PROFILE_NONE ? NULL : &o->nodes.data[row->node];
	uint64_t total = n ? n->total : o->overlapping ? 0 : row->amount;
	uint64_t self = n ? n->self : o->overlapping ? row->amount : 0;
	uint32_t guides = row->depth < MAX_GUIDES ? row->depth : MAX_GUIDES;
	size_t used = (o->no_self ? 9u : 16u) + 7u * (t ? t->count : 0) + 2 * guides;
	add_share(out, total, r->total);
	if (!o->no_self)
		add_share(out, self, r->total);
	add_thread_shares(t, row->node, r, out);
	text_add(out, "  ");
	add_guides(row->depth, out);
	if (n) {
		size_t width = r->width > used + MIN_LABEL ? r->width - used : MIN_LABEL;
		outline_label(r->profile, n, width, out);
	} else
		text_printf(out, "... %u more", row->hidden);
	text_char(out, '\n');
}

void outline_text(const struct outline *o, const struct report *r, const struct outline_threads *t,
		  struct text *out)
{
	struct outline_rows rows = {0};
	outline_rows(o, r, &rows);
	add_heading(o, r, t, out);
	vec_each (row, &rows.list) {
		add_row(o, row, r, t, out);
		output_flush(out);
	}
	vec_free(&rows.list);
}

/* Adds the inlined calls around a scope, innermost first, and its function. */
static void add_around_json(const struct profile *p, const struct profile_scope *s, struct json *j)
{
	uint32_t at = s->parent;
	json_array(j, "inlined_into");
	for (; at != PROFILE_NONE; at = p->scopes.data[at].parent) {
		if (p->scopes.data[at].kind == PROFILE_FUNCTION)
			break;
		if (p->scopes.data[at].kind == PROFILE_INLINE)
			json_string(j, NULL, p->scopes.data[at].name);
	}
	json_end(j);
	json_string(j, "function", at == PROFILE_NONE ? NULL : p->scopes.data[at].name);
}

static void add_scope_json(const struct profile *p, const struct profile_scope *s, struct json *j)
{
	json_string(j, "name", *s->name ? s->name : NULL);
	json_string(j, "file", *s->file ? s->file : NULL);
	json_u64(j, "first_line", s->first_line);
	json_u64(j, "last_line", s->last_line);
	json_string(j, "module",
		    s->module < p->modules.len ? p->modules.data[s->module].path : NULL);
	json_hex(j, "address", s->address);
	if (s->kind == PROFILE_INLINE) {
		json_string(j, "call_file", *s->call_file ? s->call_file : NULL);
		json_u64(j, "call_line", s->call_line);
		json_bool(j, "inferred", s->flags & PROFILE_ALIEN);
	}
	if (s->kind != PROFILE_FUNCTION)
		add_around_json(p, s, j);
	if (s->kind == PROFILE_LOOP)
		json_bool(j, "irreducible", s->flags & PROFILE_IRREDUCIBLE);
}

void outline_scope_json(const struct outline_node *n, const struct report *r, struct json *j)
{
	json_string(j, "kind", outline_kind_name[n->kind]);
	if (n->scope != PROFILE_NONE)
		add_scope_json(r->profile, &r->profile->scopes.data[n->scope], j);
	else
		json_string(j, "name", n->name && *n->name ? n->name : NULL);
}

void outline_node_json(const struct outline_node *n, const struct report *r, struct json *j)
{
	outline_scope_json(n, r, j);
	json_u64(j, "self", n->self);
	json_u64(j, "total", n->total);
	json_u64(j, "self_samples", n->self_samples);
	json_u64(j, "total_samples", n->total_samples);
	json_quantity(j, "self_percent", A_PERCENT, percent_of(n->self, r->total), 3);
	json_quantity(j, "total_percent", A_PERCENT, percent_of(n->total, r->total), 3);
}

static void add_threads_json(const struct outline_threads *t, uint32_t node, const struct report *r,
			     struct json *j)
{
	json_array(j, "threads");
	for (uint32_t i = 0; i < t->count; i++) {
		const struct outline_amount *a = &t->amounts[(size_t)node * t->count + i];
		if (!a->self && !a->total)
			continue;
		json_object(j, NULL);
		json_u64(j, "tid", (uint64_t)r->profile->threads.data[t->threads[i]].tid);
		json_u64(j, "self", a->self);
		json_u64(j, "total", a->total);
		json_end(j);
	}
	json_end(j);
}

void outline_json(const struct outline *o, const struct report *r, const struct outline_threads *t,
		  struct json *j)
{
	struct outline_rows rows = {0};
	outline_rows(o, r, &rows);
	json_array(j, "rows");
	vec_each (row, &rows.list) {
		json_object(j, NULL);
		json_u64(j, "depth", row->depth);
		if (row->parent == PROFILE_NONE)
			json_string(j, "parent", NULL);
		else
			json_u64(j, "parent", row->parent);
		if (row->node == PROFILE_NONE) {
			json_string(j, "kind", "more");
			json_u64(j, "hidden", row->hidden);
			json_u64(j, o->overlapping ? "self" : "total", row->amount);
		} else {
			outline_node_json(&o->nodes.data[row->node], r, j);
			if (t)
				add_threads_json(t, row->node, r, j);
		}
		json_end(j);
		output_flush(j->out);
	}
	json_end(j);
	vec_free(&rows.list);
}

void outline_scope_csv(const struct profile *p, const struct outline_node *n, struct text *out)
{
	static const struct profile_scope none = {.module = PROFILE_NONE, .name = "", .file = ""};
	const struct profile_scope *s =
		n->scope == PROFILE_NONE ? &none : &p->scopes.data[n->scope];
	csv_text(out, outline_kind_name[n->kind]);
	csv_text(out, n->name ? n->name : s->name);
	uint32_t function = report_function(p, n->scope);
	csv_text(out, function == PROFILE_NONE ? "" : p->scopes.data[function].name);
	csv_text(out, s->file);
	csv_u64(out, s->first_line);
	csv_u64(out, s->last_line);
	csv_text(out, s->module < p->modules.len ? p->modules.data[s->module].path : "");
}

static void add_row_csv(const struct outline *o, const struct outline_row *row,
			const struct report *r, const struct outline_threads *t, struct text *out)
{
	static const struct outline_node none;
	const struct outline_node *n =
		row->node == PROFILE_NONE ? &none : &o->nodes.data[row->node];
	uint64_t total = row->node == PROFILE_NONE && !o->overlapping ? row->amount : n->total;
	uint64_t self = row->node == PROFILE_NONE && o->overlapping ? row->amount : n->self;
	csv_u64(out, row->depth);
	if (row->node == PROFILE_NONE)
		text_add(out, "\"more\",\"\",\"\",\"\",0,0,\"\",");
	else
		outline_scope_csv(r->profile, n, out);
	csv_u64(out, self);
	csv_u64(out, total);
	csv_u64(out, n->self_samples);
	csv_u64(out, n->total_samples);
	text_printf(out, "%.3f,%.3f,", percent_of(self, r->total), percent_of(total, r->total));
	for (uint32_t i = 0; t && i < t->count; i++) {
		static const struct outline_amount nothing;
		const struct outline_amount *a =
			row->node == PROFILE_NONE ? &nothing
						  : &t->amounts[(size_t)row->node * t->count + i];
		csv_u64(out, a->self);
		csv_u64(out, a->total);
	}
	csv_end(out);
}

void outline_csv(const struct outline *o, const struct report *r, const struct outline_threads *t,
		 struct text *out)
{
	struct outline_rows rows = {0};
	outline_rows(o, r, &rows);
	text_add(
		out,
		"depth,kind,name,function,file,first_line,last_line,module,self,total,self_samples,"
		"total_samples,self_percent,total_percent,");
	for (uint32_t i = 0; t && i < t->count; i++) {
		int tid = r->profile->threads.data[t->threads[i]].tid;
		text_printf(out, "self %d,total %d,", tid, tid);
	}
	csv_end(out);
	vec_each (row, &rows.list) {
		add_row_csv(o, row, r, t, out);
		output_flush(out);
	}
	vec_free(&rows.list);
}
