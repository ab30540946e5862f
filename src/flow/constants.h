/* Registers that hold known constants, in straight-line code. */
#pragma once
#include "isa/insn.h"

struct constants {
	uint64_t value[32];
	uint32_t known;
	uint32_t addresses; /* those computed from pc: surely addresses, not just numbers */
};

void constants_track(struct constants *c, const struct insn *in);
/* The fixed address that `in` accesses, or 0. Before constants_track(). */
uint64_t constants_address(const struct constants *c, const struct insn *in);
/* The address that `in` left in its register, and that is not just one of a page; or 0. After
 * constants_track(). */
uint64_t constants_made(const struct constants *c, const struct insn *in);
