#include "structure/storage.h"

#include <stdlib.h>

_Static_assert(sizeof(((struct structure *)0)->storage) == STORAGE_PARTS * sizeof(void *),
	       "one for each array");
_Static_assert(sizeof(struct structure_function) == 64, "no padding, a multiple of 8");
_Static_assert(sizeof(struct machine_loop) == 56, "no padding, a multiple of 8");
_Static_assert(sizeof(struct address_range) == 16, "no padding, a multiple of 8");
_Static_assert(sizeof(struct scope) == 48, "no padding");

uint64_t storage_size(const struct storage_counts *n)
{
	return n->functions * (uint64_t)sizeof(struct structure_function) +
	       n->loops * (uint64_t)sizeof(struct machine_loop) +
	       n->ranges * (uint64_t)sizeof(struct address_range) +
	       n->scopes * (uint64_t)sizeof(struct scope) + n->text;
}

static void set_counts(struct structure *s, const struct storage_counts *n)
{
	s->function_count = n->functions;
	s->loop_count = n->loops;
	s->range_count = n->ranges;
	s->scope_count = n->scopes;
	s->text_size = n->text;
}

void storage_attach(struct structure *s, void *const arrays[STORAGE_PARTS],
		    const struct storage_counts *n)
{
	set_counts(s, n);
	for (uint32_t i = 0; i < STORAGE_PARTS; i++)
		s->storage[i] = arrays[i];
	s->functions = arrays[0];
	s->loops = arrays[1];
	s->ranges = arrays[2];
	s->scopes = arrays[3];
	s->text = arrays[4];
}

void storage_attach_block(struct structure *s, void *block, const struct storage_counts *n)
{
	set_counts(s, n);
	s->storage[0] = block;
	s->functions = block;
	s->loops = (const void *)(s->functions + n->functions);
	s->ranges = (const void *)(s->loops + n->loops);
	s->scopes = (const void *)(s->ranges + n->ranges);
	s->text = (const void *)(s->scopes + n->scopes);
}

static struct slice part(const void *array, uint64_t count, uint64_t item_size)
{
	return (struct slice){array, count * item_size};
}

void storage_parts(const struct structure *s, struct slice out[STORAGE_PARTS])
{
	out[0] = part(s->functions, s->function_count, sizeof(*s->functions));
	out[1] = part(s->loops, s->loop_count, sizeof(*s->loops));
	out[2] = part(s->ranges, s->range_count, sizeof(*s->ranges));
	out[3] = part(s->scopes, s->scope_count, sizeof(*s->scopes));
	out[4] = part(s->text, s->text_size, 1);
}

void structure_free(struct structure *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < STORAGE_PARTS; i++)
		free(s->storage[i]);
	free(s);
}

static bool in_part(uint32_t first, uint32_t count, uint32_t size)
{
	return first <= size && count <= size - first;
}

static bool function_is_sound(const struct structure *s, const struct structure_function *p)
{
	return p->name < s->text_size && p->linkage < s->text_size && p->scope < s->scope_count &&
	       s->scopes[p->scope].kind == SCOPE_FUNCTION &&
	       in_part(p->first_loop, p->loop_count, s->loop_count);
}

static bool loop_is_sound(const struct structure *s, uint32_t i)
{
	const struct machine_loop *l = &s->loops[i];
	return l->function < s->function_count && (l->parent == INDEX_NONE || l->parent < i) &&
	       l->scope < s->scope_count && s->scopes[l->scope].kind == SCOPE_LOOP;
}

/* Checks the preorder: a scope lies within its parent, so walks up and down end. */
static bool scope_is_sound(const struct structure *s, uint32_t i)
{
	const struct scope *c = &s->scopes[i];
	bool nested = c->parent == INDEX_NONE ? c->kind == SCOPE_FUNCTION
					      : c->kind != SCOPE_FUNCTION && c->parent < i &&
							i < s->scopes[c->parent].end &&
							c->end <= s->scopes[c->parent].end;
	return nested && c->end > i && c->end <= s->scope_count && c->kind <= SCOPE_LINE &&
	       c->name < s->text_size && c->file < s->text_size && c->call_file < s->text_size &&
	       (c->kind == SCOPE_LOOP ? c->loop < s->loop_count : c->loop == INDEX_NONE) &&
	       in_part(c->first_range, c->range_count, s->range_count);
}

bool storage_is_sound(const struct structure *s)
{
	if (!s->text_size || s->text[0] || s->text[s->text_size - 1])
		return false;
	for (uint32_t i = 0; i < s->function_count; i++)
		if (!function_is_sound(s, &s->functions[i]))
			return false;
	for (uint32_t i = 0; i < s->loop_count; i++)
		if (!loop_is_sound(s, i))
			return false;
	for (uint32_t i = 0; i < s->scope_count; i++)
		if (!scope_is_sound(s, i))
			return false;
	return true;
}
