#include "structure/source.h"

#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "base/order.h"
#include "base/vec.h"

/* Inlined calls that are nested deeper count as part of the call around them; no compiler nests so
 * deeply. */
enum { MAX_DEPTH = 200 };

/* The code of an inlined call, or (in `steps`) the address from which on a context holds. */
struct context_span {
	uint64_t start, end;
	uint32_t context, depth;
};

typedef VEC(struct context_span) span_list;

struct preparing {
	struct source *source;
	const struct debug_unit *unit;
	uint32_t *context_of; /* for each scope of the unit */
	VEC(struct source_context) contexts;
	span_list spans, steps;
	VEC(struct source_row) rows;
	VEC(struct source_marker) markers;
};

struct wanted_file {
	const struct debug_unit *unit;
	const char *path;
};

static const char *file_path(const struct debug_unit *u, uint32_t file)
{
	return u->files[file] ? u->files[file] : "";
}

static bool is_wanted_file(const void *ctx, uint32_t file)
{
	const struct wanted_file *w = ctx;
	return !strcmp(file_path(w->unit, file), w->path);
}

static void find_same_files(struct source *s)
{
	const struct debug_unit *u = s->unit;
	uint32_t *same = ARENA_ARRAY(&s->arena, uint32_t, u->file_count);
	struct hashmap seen = {0};
	for (uint32_t i = 0; i < u->file_count; i++) {
		const struct wanted_file w = {u, file_path(u, i)};
		uint64_t hash = hash_bytes(w.path, strlen(w.path), 0);
		same[i] = hashmap_find(&seen, hash, is_wanted_file, &w);
		if (same[i] != HASHMAP_NONE)
			continue;
		hashmap_insert(&seen, hash, i);
		same[i] = i;
	}
	hashmap_release(&seen);
	s->same_file = same;
}

static uint32_t same_file(const struct source *s, uint32_t file)
{
	return file < s->unit->file_count ? s->same_file[file] : (uint32_t)DEBUG_NONE;
}

static uint64_t hash_text(const char *s, uint64_t seed)
{
	return hash_bytes(s ? s : "", s ? strlen(s) : 0, seed);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_call(const struct debug_scope *a, const struct debug_scope *b)
{
	return a->call_line == b->call_line && a->call_file == b->call_file &&
	       a->call_column == b->call_column && same_text(a->name, b->name) &&
	       same_text(a->linkage, b->linkage);
}

/* Where the call is: a context, or, for calls in the subprogram itself, the subprogram. */
static uint64_t caller_of(const struct preparing *p, const struct debug_scope *s)
{
	uint32_t outer = s->parent < p->unit->scope_count ? p->context_of[s->parent] : 0;
	return outer ? outer : (uint64_t)s->parent << 32;
}

static uint32_t new_context(struct preparing *p, uint32_t scope)
{
	uint32_t outer_scope = p->unit->scopes[scope].parent;
	uint32_t outer = outer_scope < scope ? p->context_of[outer_scope] : 0;
	if (p->contexts.data[outer].depth == MAX_DEPTH)
		return outer;
	struct source_context c = {
		.parent = outer,
		.depth = p->contexts.data[outer].depth + 1,
		.scope = scope,
	};
	vec_push(&p->contexts, c);
	return p->contexts.len - 1;
}

/* Gives each inlined call its context: a new one, or that of an earlier copy of the same call. */
static void find_contexts(struct preparing *p)
{
	const struct debug_unit *u = p->unit;
	struct hashmap seen = {0};
	vec_push(&p->contexts, (struct source_context){.scope = DEBUG_NONE});
	for (uint32_t i = 0; i < u->scope_count; i++) {
		const struct debug_scope *s = &u->scopes[i];
		if (!s->inlined)
			continue;
		uint64_t key[4] = {caller_of(p, s), hash_text(s->name, 0), hash_text(s->linkage, 0),
				   (uint64_t)s->call_line << 32 | s->call_column};
		uint64_t hash = hash_bytes(key, sizeof(key), s->call_file);
		uint32_t known = hashmap_get(&seen, hash);
		if (known != HASHMAP_NONE) {
			const struct debug_scope *other = &u->scopes[p->contexts.data[known].scope];
			if (caller_of(p, other) == key[0] && same_call(other, s)) {
				p->context_of[i] = known;
				continue;
			}
		}
		p->context_of[i] = new_context(p, i);
		hashmap_put(&seen, hash, p->context_of[i]);
	}
	hashmap_release(&seen);
}

static int by_start(const void *a, const void *b)
{
	const struct context_span *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return x->context < y->context ? -1 : x->context > y->context;
}

static int by_context(const void *a, const void *b)
{
	const struct context_span *x = a, *y = b;
	if (x->context != y->context)
		return x->context < y->context ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

/* Merges adjacent ranges of one context, so that the range of a nested call lies within one of
 * them. */
static void join_spans(span_list *spans)
{
	if (!spans->len)
		return;
	qsort(spans->data, spans->len, sizeof(*spans->data), by_context);
	uint32_t last = 0;
	for (uint32_t i = 1; i < spans->len; i++) {
		struct context_span *a = &spans->data[last], *b = &spans->data[i];
		if (a->context == b->context && b->start <= a->end)
			a->end = b->end > a->end ? b->end : a->end;
		else
			spans->data[++last] = *b;
	}
	spans->len = last + 1;
}

static void collect_spans(struct preparing *p)
{
	const struct debug_unit *u = p->unit;
	for (uint32_t i = 0; i < u->scope_count; i++) {
		const struct debug_scope *s = &u->scopes[i];
		uint32_t context = p->context_of[i];
		for (uint32_t r = 0; context && r < s->range_count; r++) {
			const struct address_range *range = &u->ranges[s->first_range + r];
			if (range->start < range->end)
				vec_push(&p->spans,
					 (struct context_span){range->start, range->end, context,
							       p->contexts.data[context].depth});
		}
	}
	join_spans(&p->spans);
	if (p->spans.len)
		qsort(p->spans.data, p->spans.len, sizeof(*p->spans.data), by_start);
}

static void add_step(span_list *steps, uint64_t va, uint32_t context)
{
	if (steps->len && vec_last(steps).start == va)
		vec_last(steps).context = context;
	else
		vec_push(steps, (struct context_span){.start = va, .context = context});
}

/* Closes the spans that end at or before `va`; from there on the span around them holds again. */
static void leave_spans(span_list *open, span_list *steps, uint64_t va)
{
	while (open->len && vec_last(open).end <= va) {
		uint64_t end = vec_pop(open).end;
		while (open->len && vec_last(open).end <= end)
			open->len--;
		add_step(steps, end, open->len ? vec_last(open).context : CONTEXT_FUNCTION);
	}
}

/* Turns nested spans into the innermost context from address to address. Spans that overlap without
 * nesting contradict each other; the one that starts later wins. */
static void flatten(struct preparing *p)
{
	span_list open = {0};
	vec_each (s, &p->spans) {
		leave_spans(&open, &p->steps, s->start);
		while (open.len && vec_last(&open).depth >= s->depth)
			open.len--;
		vec_push(&open, *s);
		add_step(&p->steps, s->start, s->context);
	}
	leave_spans(&open, &p->steps, UINT64_MAX);
	vec_free(&open);
}

/* The row for an address. Several rows may have it: the last one describes the instruction. But the
 * end of one sequence says nothing about the beginning of the next. */
static const struct debug_line *row_of_address(const struct debug_unit *u, uint32_t *i)
{
	const struct debug_line *row = &u->lines[*i];
	while (++*i < u->line_count && u->lines[*i].va == row->va)
		if (!u->lines[*i].end || row->end)
			row = &u->lines[*i];
	return row;
}

static void add_row(struct preparing *p, uint64_t va, uint32_t context,
		    const struct debug_line *line)
{
	struct source_row row = {.va = va, .context = context, .file = DEBUG_NONE};
	if (line && !line->end) {
		row.file = same_file(p->source, line->file);
		row.line = row.file == DEBUG_NONE ? 0 : line->line;
	}
	vec_push(&p->rows, row);
}

/* Merges line rows and context steps, both sorted by address. */
static void merge_rows(struct preparing *p)
{
	const struct debug_unit *u = p->unit;
	const struct debug_line *line = NULL;
	uint32_t context = CONTEXT_FUNCTION, l = 0, s = 0;
	while (l < u->line_count || s < p->steps.len) {
		uint64_t line_va = l < u->line_count ? u->lines[l].va : UINT64_MAX;
		uint64_t step_va = s < p->steps.len ? p->steps.data[s].start : UINT64_MAX;
		uint64_t va = line_va < step_va ? line_va : step_va;
		if (l < u->line_count && line_va == va)
			line = row_of_address(u, &l);
		if (s < p->steps.len && step_va == va)
			context = p->steps.data[s++].context;
		add_row(p, va, context, line);
	}
}

/* DW_LANG_Fortran* */
static bool is_fortran(uint32_t language)
{
	static const uint32_t fortran[] = {0x07, 0x08, 0x0e, 0x22, 0x23, 0x2d};
	for (size_t i = 0; i < ARRAY_SIZE(fortran); i++)
		if (language == fortran[i])
			return true;
	return false;
}

/* gcc begins a row for each statement, even if another row begins at the same address, but not for
 * Fortran. Other compilers set is_stmt only for some rows that have code, so their rows are not
 * used as markers. */
static void collect_markers(struct preparing *p)
{
	const struct debug_unit *u = p->unit;
	if (!u->producer || !strstr(u->producer, "GNU"))
		return;
	for (uint32_t i = 0; i < u->line_count; i++) {
		const struct debug_line *l = &u->lines[i];
		uint32_t file = same_file(p->source, l->file);
		if (l->is_stmt && !l->end && l->line && file != DEBUG_NONE)
			vec_push(&p->markers,
				 (struct source_marker){l->va, file, l->line, l->column});
	}
	p->source->markers = ARENA_DUP(&p->source->arena, p->markers.data, p->markers.len);
	p->source->marker_count = p->markers.len;
	p->source->marks_statements = !is_fortran(u->language);
	vec_free(&p->markers);
}

static int by_line(const void *a, const void *b)
{
	const struct outline_entry *x = a, *y = b;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->scope < y->scope ? -1 : x->scope > y->scope;
}

/* Lists where functions begin, those with code and those without. */
static void make_outline(struct source *s)
{
	const struct debug_unit *u = s->unit;
	uint32_t n = 0;
	struct outline_entry *list = ARENA_ARRAY(&s->arena, struct outline_entry,
						 (size_t)u->scope_count + u->decl_count);
	for (uint32_t i = 0; i < u->scope_count; i++) {
		const struct debug_scope *scope = &u->scopes[i];
		uint32_t file = same_file(s, scope->decl_file);
		if (!scope->inlined && scope->decl_line && file != DEBUG_NONE)
			list[n++] = (struct outline_entry){file, scope->decl_line, i, scope->name};
	}
	for (uint32_t i = 0; i < u->decl_count; i++) {
		const struct debug_decl *d = &u->decls[i];
		uint32_t file = same_file(s, d->file);
		if (d->line && file != DEBUG_NONE)
			list[n++] = (struct outline_entry){file, d->line, DEBUG_NONE, d->name};
	}
	if (n)
		qsort(list, n, sizeof(*list), by_line);
	s->outline = list;
	s->outline_count = n;
}

struct source *source_prepare(const struct debug_unit *u)
{
	struct source *s = xcalloc(1, sizeof(*s));
	struct preparing p = {.source = s, .unit = u};
	s->unit = u;
	s->nested_follow = is_fortran(u->language);
	arena_init(&s->arena);
	p.context_of = xcalloc(u->scope_count, sizeof(*p.context_of));
	find_same_files(s);
	find_contexts(&p);
	collect_spans(&p);
	flatten(&p);
	merge_rows(&p);
	collect_markers(&p);
	if (!u->has_inlining)
		make_outline(s);

	s->rows = ARENA_DUP(&s->arena, p.rows.data, p.rows.len);
	s->row_count = p.rows.len;
	s->contexts = ARENA_DUP(&s->arena, p.contexts.data, p.contexts.len);
	s->context_count = p.contexts.len;
	vec_free(&p.rows);
	vec_free(&p.contexts);
	vec_free(&p.spans);
	vec_free(&p.steps);
	free(p.context_of);
	return s;
}

void source_free(struct source *s)
{
	if (!s)
		return;
	arena_release(&s->arena);
	free(s);
}

uint32_t source_row_at(const struct source *s, uint64_t va)
{
	return ORDER_UP_TO(s->rows, s->row_count, va, va) - 1;
}

uint32_t source_marker_from(const struct source *s, uint64_t va)
{
	return va ? ORDER_UP_TO(s->markers, s->marker_count, va, va - 1) : 0;
}

uint32_t source_subprogram_at(const struct source *s, uint64_t va)
{
	const struct debug_unit *u = s->unit;
	uint32_t n = ORDER_UP_TO(u->entries, u->entry_count, start, va);
	return n && va < u->entries[n - 1].end ? u->entries[n - 1].scope : (uint32_t)DEBUG_NONE;
}
