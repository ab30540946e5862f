/* The place of a stopped thread in a function, in terms of counting. */
#pragma once
#include "counters/plan.h"

struct counters_place {
	uint32_t block, insn; /* the next instruction to execute; BLOCK_NONE: in no block */
	uint32_t call;        /* the site that the instruction is, or 0 */
	uint32_t behind;      /* the site right before it, or 0 */
	bool first;           /* only landing instructions precede it in the block */
	bool leaves;          /* the instruction leaves the function */
	bool jumped_to;       /* the block is reached by indirect jumps, and not after a call */
};

/* A counter that a running loop keeps in a register. */
struct counters_running {
	uint8_t counter; /* operand (isa/emit.h) */
	bool trips;      /* it counts executions of the header */
	uint32_t word;   /* the word it is added to at the loop's end */
};

enum { RUNNING_MAX = 64 }; /* no more than there are registers */

/* Lists the counters in registers of all loops around a block. Returns their number. */
uint32_t counters_running(const struct counters *t, uint32_t block,
			  struct counters_running out[RUNNING_MAX]);
/* The site of the call or system call that returns to va, or 0. */
uint32_t counters_site_behind(const struct counters *t, uint64_t va);
struct counters_place counters_place(const struct counters *t, const struct flow *f, uint64_t va);
