/* From addresses to procedures and scopes. */
#include "base/order.h"
#include "structure/structure.h"

static bool has_address(const struct structure *s, const struct scope *c, uint64_t va)
{
	const struct address_range *r = s->ranges + c->first_range;
	uint32_t n = ORDER_UP_TO(r, c->range_count, start, va);
	return n && va < r[n - 1].end;
}

/* Parts split off lie anywhere; procedures that have some are few, so these are simply tried. */
static uint32_t split_procedure_at(const struct structure *s, uint64_t va)
{
	for (uint32_t i = 0; i < s->procedure_count; i++) {
		const struct scope *c = &s->scopes[s->procedures[i].scope];
		if (c->range_count > 1 && has_address(s, c, va))
			return i;
	}
	return INDEX_NONE;
}

uint32_t structure_procedure_at(const struct structure *s, uint64_t va)
{
	uint32_t n = ORDER_UP_TO(s->procedures, s->procedure_count, start, va);
	if (n && va < s->procedures[n - 1].end)
		return n - 1;
	return split_procedure_at(s, va);
}

/* Of the scopes that have the address the one that comes last in preorder is the innermost: a line,
 * or where the code has no line the deepest inlined call or loop. A line may have addresses outside
 * the loop that it stands in, so the whole procedure is searched. */
uint32_t structure_scope_at(const struct structure *s, uint64_t va)
{
	uint32_t procedure = structure_procedure_at(s, va);
	if (procedure == INDEX_NONE)
		return INDEX_NONE;
	uint32_t found = s->procedures[procedure].scope, end = s->scopes[found].end;
	for (uint32_t i = found + 1; i < end; i++) {
		if (!has_address(s, &s->scopes[i], va))
			continue;
		found = i;
		if (s->scopes[i].kind == SCOPE_LINE)
			break;
	}
	return found;
}
