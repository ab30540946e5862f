/* From FILE:LINE to loops. A line has addresses, and these are in functions; only the structure of
 * these functions is recovered. A line that was inlined into ten functions is in ten loops. */
#include <string.h>

#include "base/order.h"
#include "path/selector.h"
#include "structure/structure.h"

/* Finds where the statements of a line are, or those of the next line that has some. */
struct line_search {
	struct selector *s;
	uint32_t line; /* the best one found so far */
	VEC(uint64_t) addresses;
};

static void search_unit(struct line_search *l, const struct debug_unit *u)
{
	const struct wanted *w = &l->s->wanted;
	bool *meant = xcalloc(u->file_count + (size_t)1, sizeof(*meant)), any = false;
	for (uint32_t i = 0; i < u->file_count; i++)
		any |= meant[i] = file_is_meant(w->file, u->files[i]);
	for (uint32_t i = 0; i < u->line_count && any; i++) {
		const struct debug_line *row = &u->lines[i];
		if (row->end || row->file >= u->file_count || !meant[row->file] ||
		    row->line < w->line || row->line > l->line)
			continue;
		if (row->line < l->line)
			vec_clear(&l->addresses);
		l->line = row->line;
		vec_push(&l->addresses, row->va);
	}
	free(meant);
}

static void search_lines(struct line_search *l, struct code *c)
{
	struct debug *d = selector_debug(l->s, c);
	uint32_t count = d ? debug_unit_count(d) : 0;
	for (uint32_t i = 0; i < count; i++) {
		struct debug_unit *u = debug_unit_load(d, i);
		if (u)
			search_unit(l, u);
		debug_unit_free(u);
	}
}

static const char *text_of(const struct structure *t, uint32_t offset)
{
	return t->text + offset;
}

static bool has_line(const struct selector *s, const struct structure *t, const struct scope *c,
		     uint32_t line)
{
	return c->first_line && c->first_line <= line && line <= c->last_line &&
	       file_is_meant(s->wanted.file, text_of(t, c->file));
}

/* The depth of the innermost source loop around the line; several machine loops may be parts of it.
 */
static uint32_t innermost_depth(const struct selector *s, const struct structure *t,
				const struct structure_function *p, uint32_t line)
{
	uint32_t depth = 0;
	for (uint32_t i = 0; i < p->loop_count; i++) {
		const struct scope *c = &t->scopes[t->loops[p->first_loop + i].scope];
		if (c->loop_depth > depth && has_line(s, t, c, line))
			depth = c->loop_depth;
	}
	return depth;
}

static void add_loop(struct selector *s, const struct mapped_code *m, const struct structure *t,
		     const struct structure_function *p, const struct machine_loop *l)
{
	struct arena *a = &s->out->arena;
	const struct scope *c = &t->scopes[l->scope];
	const char *name = text_of(t, p->name);
	selector_add(
		s, &(struct selected){
			   .code = m->code,
			   .va = p->start,
			   .loop = l->header,
			   .bias = m->bias,
			   .name = *name ? arena_strdup(a, name)
					 : arena_printf(a, "0x%llx", (unsigned long long)p->start),
			   .file = arena_strdup(a, text_of(t, c->file)),
			   .first_line = c->first_line,
			   .last_line = c->last_line,
		   });
}

static void add_loops(struct selector *s, const struct mapped_code *m, const struct structure *t,
		      const struct structure_function *p, uint32_t line)
{
	uint32_t depth = innermost_depth(s, t, p, line);
	for (uint32_t i = 0; depth && i < p->loop_count; i++) {
		const struct machine_loop *l = &t->loops[p->first_loop + i];
		const struct scope *c = &t->scopes[l->scope];
		if (c->loop_depth == depth && has_line(s, t, c, line))
			add_loop(s, m, t, p, l);
	}
}

/* The line on which a function begins means the function. */
static void add_if_first_line(struct selector *s, const struct mapped_code *m,
			      const struct structure *t, const struct structure_function *p)
{
	const struct scope *c = &t->scopes[p->scope];
	if (c->first_line != s->wanted.line || !has_line(s, t, c, c->first_line))
		return;
	selector_add(s, &(struct selected){
				.code = m->code,
				.va = p->start,
				.bias = m->bias,
				.name = arena_strdup(&s->out->arena, text_of(t, p->name)),
				.file = arena_strdup(&s->out->arena, text_of(t, c->file)),
				.first_line = c->first_line,
			});
}

static int in_no_loop(struct selector *s, const struct structure *t, const uint64_t *addresses,
		      struct scope_index *x, struct err *e)
{
	uint32_t p = scope_index_function(x, addresses[0]);
	const char *name = p == INDEX_NONE ? "" : text_of(t, t->functions[p].name);
	return *name ? err_set(e, ERR_INPUT,
			       "%s:%u is not in a loop, but in %s; measure it by that name",
			       s->wanted.file, s->wanted.line, name)
		     : err_set(e, ERR_INPUT, "%s:%u is not in a loop", s->wanted.file,
			       s->wanted.line);
}

static int select_from(struct selector *s, const struct mapped_code *m, const struct structure *t,
		       const struct line_search *l, struct err *e)
{
	struct scope_index *x = scope_index_new(t);
	uint32_t last = INDEX_NONE;
	size_t before = s->out->list.len;
	for (uint32_t i = 0; i < l->addresses.len; i++) {
		uint32_t p = scope_index_function(x, l->addresses.data[i]);
		if (p == INDEX_NONE || p == last)
			continue;
		last = p;
		add_if_first_line(s, m, t, &t->functions[p]);
		if (s->out->list.len == before || s->out->list.data[before].loop)
			add_loops(s, m, t, &t->functions[p], l->line);
	}
	int rc = s->out->list.len > before ? 0 : in_no_loop(s, t, l->addresses.data, x, e);
	scope_index_free(x);
	return rc;
}

int select_by_line(struct selector *s, const struct mapped_code *m, struct err *e)
{
	static const struct structure_options options = {.use_cache = true, .use_debug = true};
	struct line_search l = {.s = s, .line = UINT32_MAX};
	struct structure *t;
	int rc = 0;
	search_lines(&l, m->code);
	if (l.addresses.len) {
		order_by_address(l.addresses.data, l.addresses.len, sizeof(*l.addresses.data), 0);
		rc = structure_of_addresses(&t, m->code->module, l.addresses.data, l.addresses.len,
					    &options, e);
		if (!rc) {
			rc = select_from(s, m, t, &l, e);
			structure_free(t);
		}
	}
	vec_free(&l.addresses);
	return rc;
}
