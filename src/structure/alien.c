/* Finds alien code: lines in a function that come from elsewhere. Where the compiler did not
 * describe what it inlined, they are found from line numbers alone (sections 3.1 and 3.2 of the
 * paper, see structure.h).
 *
 * Source functions do not overlap unless nested, so a function ends before the next one in its
 * file begins. A line of another file, or outside these bounds, is alien. It belongs to the
 * function whose bounds hold it, if the unit knows one. How alien functions call each other cannot
 * be known: their contexts have depth 1, and the tree shows them flat below the enclosing loop or
 * function. */
#include <string.h>

#include "base/hashmap.h"
#include "structure/builder.h"

/* The number of outline entries that begin at or before the line. */
static uint32_t outline_up_to(const struct source *s, uint32_t file, uint32_t line)
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

/* Function objects that are written in the middle of a function do not end it. */
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
	return !s->nested_follow && is_within(s->unit, o->scope, subprogram);
}

/* The last line that the subprogram can have. */
static uint32_t last_line_of(const struct source *s, uint32_t subprogram, uint32_t file,
			     uint32_t line)
{
	for (uint32_t i = outline_up_to(s, file, line); i < s->outline_count; i++) {
		const struct outline_entry *o = &s->outline[i];
		if (o->file != file)
			break;
		if (!may_be_inside(s, o, subprogram))
			return o->line - 1;
	}
	return UINT32_MAX;
}

/* The context of the alien lines of this file and owner. */
static uint32_t alien_context(struct structure_builder *b, struct hashmap *known, uint32_t file,
			      uint32_t owner)
{
	uint32_t next = b->alien_contexts.len;
	uint32_t context = hashmap_add(known, (uint64_t)file << 32 | owner, next);
	struct source_context c = {.depth = 1, .scope = DEBUG_NONE, .file = file, .owner = owner};
	if (context == next)
		vec_push(&b->alien_contexts, c);
	return context;
}

static uint32_t owner_of(const struct source *s, uint32_t file, uint32_t line)
{
	uint32_t count = outline_up_to(s, file, line);
	bool known = count && s->outline[count - 1].file == file;
	return known ? count - 1 : (uint32_t)DEBUG_NONE;
}

/* The file that the function's code begins in: without a declaration, nothing else bounds the
 * function. */
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
	uint32_t file = DEBUG_NONE, first = 0, last = UINT32_MAX, context = CONTEXT_FUNCTION;
	if (b->subprogram != DEBUG_NONE)
		file = unit_file(b, s->unit->scopes[b->subprogram].decl_file);
	if (file != DEBUG_NONE) {
		first = s->unit->scopes[b->subprogram].decl_line;
		last = last_line_of(s, b->subprogram, file, first);
	} else {
		file = first_file(b);
	}

	vec_clear(&b->alien_contexts);
	vec_push(&b->alien_contexts, (struct source_context){.scope = DEBUG_NONE});
	vec_each (p, &b->pieces) {
		/* Code without a line stays with the code before it. */
		if (p->line) {
			uint32_t owner = owner_of(s, p->file, p->line);
			bool native = p->file == file && p->line >= first && p->line <= last;
			context = native ? (uint32_t)CONTEXT_FUNCTION
					 : alien_context(b, &known, p->file, owner);
		}
		p->context = context;
	}
	b->contexts = b->alien_contexts.data;
	hashmap_release(&known);
}
