/* Which registers may still be read, at each instruction of a function.
 *
 * A wrong answer silently changes a program's results. So nothing is taken from calling
 * conventions, which compilers and assembly are known to bend: with interprocedural register
 * allocation, a caller keeps values in registers that a callee may destroy by the convention, if it
 * knows that this callee does not. What counts is the code itself:
 *
 *	call, tail call   everything may be read, except what the first instructions of a known
 *	                  target overwrite without reading it (a PLT's scratch registers, say)
 *	return            everything, except scratch registers whose value at entry is certainly
 *	                  gone and whose new value the function itself has used up: see spent.c
 *	system call       all general registers: a new thread continues with a copy
 *	exception         what the landing pad reads, at every instruction that it covers; along
 *	                  an unwind edge everything
 *	unknown place     everything. In a function with jumps to unknown places, bad code or
 *	                  overlapping instructions: everything, everywhere
 *
 * The caller may declare registers private to the function: other functions do not read what it
 * leaves in them. They are dead at calls, traps and returns, and along unwind edges; also at
 * unknown places, if the known code of the function does not touch them. System calls read them
 * like other registers.
 *
 * Registers that isa/ has no names for are never free. */
#pragma once
#include "flow/flow.h"

struct liveness {
	const struct cfg *cfg;
	const struct arch *arch;
	const struct module *module;
	/* For each block: the registers that may be read from its start on, and after its last
	 * instruction (after a call: by the callee or anything later). */
	struct regset *at_start, *at_end;
	struct regset *always; /* for each block: what its landing pads read */
	/* For each block: enum exclusive_flag; NULL if the function has no exclusive loads or
	 * stores. */
	const uint8_t *exclusive;
	struct regset private;     /* private to the function */
	struct regset touched;     /* read or written by some instruction, also implicitly */
	struct regset *touched_in; /* the same for each block */
	bool unknown; /* everything is live everywhere, except what is private and untouched */
};

/* How a block relates to sequences of a load-exclusive and its store-exclusive. */
enum exclusive_flag {
	EXCLUSIVE_BEFORE = 1 << 0,  /* before its start there may be a load without a store */
	EXCLUSIVE_AFTER = 1 << 1,   /* after its end there may be a store without a load */
	EXCLUSIVE_PENDING = 1 << 2, /* the same as BEFORE, at its end */
	EXCLUSIVE_AWAITED = 1 << 3, /* the same as AFTER, at its start */
};

/* Analyses one function; the result lives in `a`. `private` may be empty. */
void liveness_find(struct liveness *out, const struct flow *f, const struct cfg *g,
		   struct regset private, struct arena *a, struct arena *tmp);
/* The registers that may be read by the instruction at va or later. `va` must be the start of an
 * instruction of the block. */
struct regset liveness_before(const struct liveness *l, uint32_t block, uint64_t va);
/* The registers that may be read after control has followed the edge. */
struct regset liveness_on_edge(const struct liveness *l, const struct edge *edge);
/* Whether the instruction at va may execute between a load-exclusive and its store-exclusive, where
 * an access to memory could make the store fail for ever. */
bool liveness_in_exclusive(const struct liveness *l, uint32_t block, uint64_t va);
bool liveness_exclusive_on_edge(const struct liveness *l, const struct edge *edge);
/* All registers and flags that probes may use, except those in `live`. */
struct regset liveness_free(const struct arch *arch, const struct regset *live);
