#include "flow/cfg.h"

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
	uint32_t low = 0, high = g->block_count;
	while (low < high) { /* the first block that starts behind va */
		uint32_t middle = low + (high - low) / 2;
		if (g->blocks[middle].start <= va)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || va >= g->blocks[low - 1].start + g->blocks[low - 1].size)
		return BLOCK_NONE;
	return low - 1;
}
