/* Registers for a loop's counters: its trips, and the chords in it.
 *
 * In a loop without calls a counter may be in any register that is not needed there: no instruction
 * of the loop touches it, and none after the loop reads it. The counter starts at 0 where the loop
 * is entered and is added to its word where the loop is left. This takes one instruction per count,
 * instead of three that wait for memory.
 *
 * General registers are preferred, as long as enough are left for the probes where the loop is
 * left; then vector registers, of which most loops have many to spare. */
#pragma once
#include "flow/liveness.h"
#include "flow/loops.h"

struct register_choice {
	const struct loop_forest *forest;
	struct regset never;   /* registers that hold something else in the whole function */
	uint64_t best;         /* general registers that are used first */
	struct regset *unused; /* for each loop: registers that are not needed there */
	struct regset *own;    /* for each loop: registers it counts in */
	struct regset *below;  /* for each loop: registers that loops inside it count in */
};

/* `calls`: for each loop, whether it contains code that would destroy or need the registers (calls,
 * indirect jumps, landing pads). The result lives in `tmp`. */
void holder_init(struct register_choice *h, const struct loop_forest *forest,
		 const struct liveness *live, const bool *calls, struct arena *tmp);
/* Reserves a register for a counter of the loop and returns it as an operand (isa/emit.h); REG_NONE
 * if there is none. */
uint8_t holder_take(struct register_choice *h, uint32_t loop);
