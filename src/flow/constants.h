/* Registers that hold known constants, in straight-line code. */
#pragma once
#include "isa/insn.h"

struct constants {
	uint64_t value[32]; /* of each general register */
	uint32_t known;     /* set of registers whose value is known */
	uint32_t addresses; /* set of those computed from the pc: addresses, not just numbers */
};

/* Updates the constants by one instruction. */
void constants_track(struct constants *c, const struct insn *in);
/* The fixed address that `in` accesses, or 0. Call it before constants_track(). */
uint64_t constants_address(const struct constants *c, const struct insn *in);
/* The address that `in` left in its register, or 0. The address of a page alone (adrp) does not
 * count: it is half of a computation. Call it after constants_track(). */
uint64_t constants_made(const struct constants *c, const struct insn *in);
