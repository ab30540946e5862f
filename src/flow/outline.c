#include "flow/outline.h"

#include "base/order.h"

const struct graph_outline *outline_of(const struct cfg *g, struct arena *a)
{
	struct graph_outline *o = ARENA_NEW(a, struct graph_outline);
	struct outline_block *blocks =
		arena_alloc(a, g->block_count * sizeof(*blocks), _Alignof(struct outline_block));
	for (uint32_t i = 0; i < g->block_count; i++)
		blocks[i] = outline_block(&g->blocks[i]);
	*o = (struct graph_outline){
		.blocks = blocks, .block_count = g->block_count, .escape_count = g->escape_count};
	if (g->escape_count)
		o->escapes = ARENA_DUP(a, g->escapes, g->escape_count);
	return o;
}

bool outline_has(const struct graph_outline *o, uint64_t va)
{
	uint32_t n = ORDER_UP_TO(o->blocks, o->block_count, start, va);
	return n && va < o->blocks[n - 1].start + o->blocks[n - 1].size;
}
