#include "flow/cfg.h"

#include "base/order.h"

const char *const block_end_name[BLOCK_ENDS] = {
	[END_FALL] = "fall",     [END_JUMP] = "jump",
	[END_BRANCH] = "branch", [END_SWITCH] = "switch",
	[END_CALL] = "call",     [END_CALL_INDIRECT] = "call-indirect",
	[END_RETURN] = "return", [END_TAIL_CALL] = "tail-call",
	[END_TRAP] = "trap",     [END_UNRESOLVED] = "unresolved",
	[END_BAD] = "bad",
};

const char *const edge_kind_name[EDGE_KINDS] = {
	[EDGE_FALL] = "fall",     [EDGE_JUMP] = "jump",
	[EDGE_TAKEN] = "taken",   [EDGE_CALL_RETURN] = "call-return",
	[EDGE_SWITCH] = "switch", [EDGE_UNWIND] = "unwind",
};

uint32_t cfg_block_at(const struct cfg *g, uint64_t va)
{
	uint32_t n = ORDER_UP_TO(g->blocks, g->block_count, start, va);
	if (!n || va >= g->blocks[n - 1].start + g->blocks[n - 1].size)
		return BLOCK_NONE;
	return n - 1;
}

void cfg_index_predecessors(struct cfg *g, struct arena *a)
{
	uint32_t *first = ARENA_ARRAY(a, uint32_t, g->block_count + 2);
	uint32_t *preds = arena_alloc(a, g->edge_count * sizeof(*preds), _Alignof(uint32_t));
	for (uint32_t e = 0; e < g->edge_count; e++)
		first[g->edges[e].to + 2]++;
	for (uint32_t i = 1; i < g->block_count + 2; i++)
		first[i] += first[i - 1];
	for (uint32_t e = 0; e < g->edge_count; e++)
		preds[first[g->edges[e].to + 1]++] = e;
	g->first_pred = first;
	g->pred_edges = preds;
}
