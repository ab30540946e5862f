/* Registers for what a loop counts: its trips, and the counters in it.
 *
 * In a loop that makes no calls a counter may be in any register that nobody needs there: no
 * instruction of the loop touches it, and none after the loop reads it. It begins at 0 where the
 * loop is entered and is added to its word where the loop is left. That costs an instruction for
 * each count, instead of three that wait for memory.
 *
 * General registers are better, as long as enough are left for the probes where the loop is left;
 * then vectors, of which most loops have many. */
#pragma once
#include "flow/liveness.h"
#include "flow/loops.h"

struct holder {
	const struct loop_forest *forest;
	struct regset never;   /* that hold something else in the whole procedure */
	uint64_t best;         /* general registers that are taken first */
	struct regset *unused; /* of each loop: that nobody needs there */
	struct regset *own;    /* that it counts in */
	struct regset *below;  /* that loops in it count in */
};

/* `calls`: of each loop, whether something in it would need what registers hold. The result lives
 * in `tmp`. */
void holder_init(struct holder *h, const struct loop_forest *forest, const struct liveness *live,
		 const bool *calls, struct arena *tmp);
/* A register for a counter of the loop, as operand of operations (isa/emit.h); REG_NONE if there is
 * none. */
uint8_t holder_take(struct holder *h, uint32_t loop);
