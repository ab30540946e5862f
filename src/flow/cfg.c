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
