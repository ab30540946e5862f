/* Alien code: lines in a procedure that come from elsewhere, found from line numbers alone, where
 * the compiler did not describe what it inlined (sections 3.1 and 3.2).
 *
 * Source procedures do not overlap unless nested, so a procedure ends before the next one in its
 * file begins. A line of another file, or beyond these bounds, is alien; it belongs to the
 * procedure whose bounds hold it, if the unit knows one. How alien procedures call each other
 * cannot be known: contexts have depth 1, and the tree shows them flat below the enclosing loop or
 * procedure. */
#include <string.h>

#include "base/hashmap.h"
#include "structure/builder.h"

/* Entries up to here begin at or before the line. */
static uint32_t outline_behind(const struct source *s, uint32_t file, uint32_t line)
{
	uint32_t low = 0, high = s->outline_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct outline_entry *o = &s->outline[middle];
		if (o->file < file || (o->file == file && o->line <= line))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_within(const struct debug_unit *u, uint32_t scope, uint32_t ancestor)
{
	while (scope != DEBUG_NONE && scope != ancestor)
		scope = u->scopes[scope].parent;
	return scope == ancestor;
}

/* Function objects written in the middle of a procedure do not end it. */
static bool is_lambda(const char *name)
{
	return name &&
	       (strstr(name, "lambda") || strstr(name, "operator()") || strstr(name, "{closure"));
}

/* True if the entry can begin before the subprogram ends. */
static bool may_be_inside(const struct source *s, const struct outline_entry *o,
			  uint32_t subprogram)
{
	if (o->scope == DEBUG_NONE)
		return is_lambda(o->name);
	return !s->nests_behind && is_within(s->unit, o->scope, subprogram);
}

/* The last line that the subprogram can have. */
static uint32_t last_line_of(const struct source *s, uint32_t subprogram, uint32_t file,
			     uint32_t line)
{
	for (uint32_t i = outline_behind(s, file, line); i < s->outline_count; i++) {
		const struct outline_entry *o = &s->outline[i];
		if (o->file != file)
			break;
		if (!may_be_inside(s, o, subprogram))
			return o->line - 1;
	}
	return UINT32_MAX;
}

/* The context of alien lines of this file and owner. */
static uint32_t alien_context(struct structure_builder *b, struct hashmap *known, uint32_t file,
			      uint32_t owner)
{
	uint32_t next = b->alien_contexts.len;
	uint32_t context = hashmap_add(known, (uint64_t)file << 32 | owner, next);
	struct context c = {.depth = 1, .scope = DEBUG_NONE, .file = file, .owner = owner};
	if (context == next)
		vec_push(&b->alien_contexts, c);
	return context;
}

static uint32_t owner_of(const struct source *s, uint32_t file, uint32_t line)
{
	uint32_t behind = outline_behind(s, file, line);
	bool known = behind && s->outline[behind - 1].file == file;
	return known ? behind - 1 : (uint32_t)DEBUG_NONE;
}

/* Without a declaration nothing bounds the procedure but the file that its code begins in. */
static uint32_t first_file(const struct structure_builder *b)
{
	vec_each (p, &b->pieces)
		if (p->line)
			return p->file;
	return DEBUG_NONE;
}

void find_aliens(struct structure_builder *b)
{
	const struct source *s = b->source;
	struct hashmap known = {0};
	uint32_t file = DEBUG_NONE, first = 0, last = UINT32_MAX, context = CONTEXT_PROCEDURE;
	if (b->subprogram != DEBUG_NONE)
		file = unit_file(b, s->unit->scopes[b->subprogram].decl_file);
	if (file != DEBUG_NONE) {
		first = s->unit->scopes[b->subprogram].decl_line;
		last = last_line_of(s, b->subprogram, file, first);
	} else {
		file = first_file(b);
	}

	vec_clear(&b->alien_contexts);
	vec_push(&b->alien_contexts, (struct context){.scope = DEBUG_NONE});
	vec_each (p, &b->pieces) {
		/* Code without a line stays with the code before it. */
		if (p->line) {
			uint32_t owner = owner_of(s, p->file, p->line);
			bool native = p->file == file && p->line >= first && p->line <= last;
			context = native ? (uint32_t)CONTEXT_PROCEDURE
					 : alien_context(b, &known, p->file, owner);
		}
		p->context = context;
	}
	b->contexts = b->alien_contexts.data;
	hashmap_release(&known);
}
