/* Where a thread that was stopped is in a procedure, as counting sees it. */
#pragma once
#include "tally/plan.h"

struct tally_place {
	uint32_t block, insn; /* it is about to execute this instruction of the block; BLOCK_NONE */
	uint32_t call;        /* site of the instruction, or 0 */
	uint32_t behind;      /* site of the call or system call right before it, or 0 */
	bool first;           /* nothing is before it in the block but landing instructions */
	bool leaves;          /* the instruction is the procedure's end */
	bool jumped_to;       /* only indirect jumps lead to the block from outside */
};

/* What a loop counts in a register while it runs. */
struct tally_running {
	uint8_t counter; /* operand (isa/emit.h) */
	bool trips;      /* executions of its header */
	uint32_t word;   /* that it is added to at the loop's end */
};

enum { RUNNING_MAX = 64 }; /* registers that there are */

/* Of all the loops that a block is in. Returns how many. */
uint32_t tally_running(const struct tally *t, uint32_t block,
		       struct tally_running out[RUNNING_MAX]);
/* The call or system call that control comes back from to va: its site, or 0. */
uint32_t tally_site_behind(const struct tally *t, uint64_t va);
struct tally_place tally_place(const struct tally *t, const struct flow *f, uint64_t va);
