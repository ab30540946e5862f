#include "profile/diff_match.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "structure/text_pool.h"

/* Writes the key in which two items must agree to match at a level; nothing if the item does not
 * take part in the level. */
typedef void write_key(const struct match_side *s, const struct match_item *i, struct text *out);

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static const struct profile_scope *scope_of(const struct match_side *s, const struct match_item *i)
{
	return &s->profile->scopes.data[i->scope];
}

static const char *module_of(const struct match_side *s, const struct profile_scope *scope)
{
	return last_part(s->profile->modules.data[scope->module].path);
}

/* "f.part.0" and "f.constprop.1" are matched as f: each build numbers them differently. */
static int plain_length(const char *name)
{
	const char *dot = strchr(name, '.');
	return dot && dot > name ? (int)(dot - name) : (int)strlen(name);
}

static void module_file_name(const struct match_side *s, const struct match_item *i,
			     struct text *out)
{
	const struct profile_scope *p = scope_of(s, i);
	text_printf(out, "%s\n%s\n%s", module_of(s, p), p->file, p->name);
}

/* Names derived from addresses mean nothing in another build. */
static void module_name(const struct match_side *s, const struct match_item *i, struct text *out)
{
	const struct profile_scope *p = scope_of(s, i);
	if (!(p->flags & PROFILE_UNNAMED))
		text_printf(out, "%s\n%s", module_of(s, p), p->name);
}

static void module_plain_name(const struct match_side *s, const struct match_item *i,
			      struct text *out)
{
	const struct profile_scope *p = scope_of(s, i);
	if (!(p->flags & PROFILE_UNNAMED))
		text_printf(out, "%s\n%.*s", module_of(s, p), plain_length(p->name), p->name);
}

/* Without the module, in case the executable was renamed. */
static void file_name(const struct match_side *s, const struct match_item *i, struct text *out)
{
	const struct profile_scope *p = scope_of(s, i);
	if (*p->file && !(p->flags & PROFILE_UNNAMED))
		text_printf(out, "%s\n%s", last_part(p->file), p->name);
}

static void program_name(const struct match_side *s, const struct match_item *i, struct text *out)
{
	const struct profile_scope *p = scope_of(s, i);
	if (!(p->flags & PROFILE_UNNAMED) && !strstr(module_of(s, p), ".so"))
		text_add(out, p->name);
}

static write_key *const function_levels[] = {
	module_file_name, module_name, module_plain_name, file_name, program_name,
};

/* Returns the innermost function or inlined call around a loop. */
static const struct profile_scope *enclosing_call(const struct match_side *s,
						  const struct match_item *i)
{
	const struct profile_scope *scopes = s->profile->scopes.data, *p = scope_of(s, i);
	do
		p = &scopes[p->parent];
	while (p->kind == PROFILE_LOOP);
	return p;
}

static unsigned depth_of(const struct match_side *s, const struct match_item *i)
{
	const struct profile_scope *scopes = s->profile->scopes.data;
	unsigned depth = 0;
	for (uint32_t p = i->scope; p != PROFILE_NONE; p = scopes[p].parent)
		depth += scopes[p].kind == PROFILE_LOOP;
	return depth;
}

/* Writes the common part of the keys of loops: loops match only within matched functions, and at
 * the same depth. */
static bool write_pair(const struct match_side *s, const struct match_item *i, struct text *out)
{
	const struct match_item *p = &s->functions.data[i->function];
	if (p->pair == PROFILE_NONE)
		return false;
	text_printf(out, "%u %u\n", p->pair, depth_of(s, i));
	return true;
}

/* Lines relative to the function's first line: they stay the same if code above the function
 * grows or shrinks. */
static void line_offsets(const struct match_side *s, const struct match_item *i, struct text *out)
{
	const struct profile_scope *l = scope_of(s, i), *p = enclosing_call(s, i);
	if (l->first_line && p->first_line && write_pair(s, i, out))
		text_printf(out, "%.*s\n%d-%d", plain_length(p->name), p->name,
			    (int)(l->first_line - p->first_line),
			    (int)(l->last_line - p->first_line));
}

static void lines(const struct match_side *s, const struct match_item *i, struct text *out)
{
	const struct profile_scope *l = scope_of(s, i), *p = enclosing_call(s, i);
	if (l->first_line && write_pair(s, i, out))
		text_printf(out, "%.*s\n%u-%u", plain_length(p->name), p->name, l->first_line,
			    l->last_line);
}

static void position_in_callee(const struct match_side *s, const struct match_item *i,
			       struct text *out)
{
	const struct profile_scope *p = enclosing_call(s, i);
	if (write_pair(s, i, out))
		text_printf(out, "%.*s", plain_length(p->name), p->name);
}

static void position(const struct match_side *s, const struct match_item *i, struct text *out)
{
	write_pair(s, i, out);
}

static write_key *const loop_levels[] = {line_offsets, lines, position_in_callee, position};

/* Returns the number of the item's key, 0 if the item does not take part. */
static uint32_t number_of(struct text_pool *pool, struct text *tmp, const struct match_side *s,
			  const struct match_item *i, write_key *key)
{
	text_clear(tmp);
	if (i->partner == PROFILE_NONE)
		key(s, i, tmp);
	return tmp->len ? text_pool_add(pool, tmp->data) : 0;
}

/* For each key there is a list of the items of B that have it, in address order. Each item of A
 * takes the first item from the list of its key. */
static void match_level(const struct match_side *sa, match_list *a, const struct match_side *sb,
			match_list *b, write_key *key)
{
	struct text_pool pool;
	struct text tmp = TEXT_INIT;
	size_t keys = ((size_t)a->len + b->len + 2) * sizeof(uint32_t);
	uint32_t *first = memset(xmalloc(keys), 0xff, keys), *next = xmalloc(keys);
	text_pool_init(&pool);
	for (uint32_t i = b->len; i-- > 0;) {
		uint32_t number = number_of(&pool, &tmp, sb, &b->data[i], key);
		next[i] = first[number];
		if (number)
			first[number] = i;
	}
	for (uint32_t i = 0; i < a->len; i++) {
		uint32_t number = number_of(&pool, &tmp, sa, &a->data[i], key);
		uint32_t other = first[number];
		if (other == PROFILE_NONE)
			continue;
		first[number] = next[other];
		a->data[i].partner = other;
		b->data[other].partner = i;
		a->data[i].pair = b->data[other].pair = i;
	}
	free(first);
	free(next);
	text_pool_release(&pool);
	text_release(&tmp);
}

static int by_address(const void *x, const void *y)
{
	const struct match_item *a = x, *b = y;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->scope < b->scope ? -1 : a->scope > b->scope;
}

static void sort_items(match_list *l)
{
	if (l->len)
		qsort(l->data, l->len, sizeof(*l->data), by_address);
}

/* Sets the item of the function that each loop is in. */
static void find_functions(struct match_side *s)
{
	const struct profile_scope *scopes = s->profile->scopes.data;
	uint32_t *item_of = xcalloc((size_t)s->profile->scopes.len + 1, sizeof(*item_of));
	for (uint32_t i = 0; i < s->functions.len; i++)
		item_of[s->functions.data[i].scope] = i;
	vec_each (l, &s->loops) {
		uint32_t scope = l->scope;
		while (scopes[scope].parent != PROFILE_NONE)
			scope = scopes[scope].parent;
		l->function = item_of[scope];
	}
	free(item_of);
}

static void collect_items(struct match_side *s)
{
	s->functions = s->loops = (match_list){0};
	for (uint32_t i = 0; i < s->flat->rows.len; i++) {
		const struct flat_row *r = &s->flat->rows.data[i];
		struct match_item item = {.row = i,
					  .scope = r->scope,
					  .function = PROFILE_NONE,
					  .partner = PROFILE_NONE,
					  .pair = PROFILE_NONE};
		if (r->kind != FLAT_FUNCTION && r->kind != FLAT_LOOP)
			continue;
		item.address = s->profile->scopes.data[r->scope].address;
		if (r->kind == FLAT_FUNCTION)
			vec_push(&s->functions, item);
		else
			vec_push(&s->loops, item);
	}
	sort_items(&s->functions);
	sort_items(&s->loops);
	find_functions(s);
}

void match_sides(struct match_side *a, struct match_side *b)
{
	collect_items(a);
	collect_items(b);
	for (size_t i = 0; i < ARRAY_SIZE(function_levels); i++)
		match_level(a, &a->functions, b, &b->functions, function_levels[i]);
	for (size_t i = 0; i < ARRAY_SIZE(loop_levels); i++)
		match_level(a, &a->loops, b, &b->loops, loop_levels[i]);
}

void match_release(struct match_side *s)
{
	vec_free(&s->functions);
	vec_free(&s->loops);
}
