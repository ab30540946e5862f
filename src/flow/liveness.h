/* Which registers may still be read, at each instruction of a procedure.
 *
 * Wrong answers silently change a program's results, so nothing is taken from calling conventions
 * that compilers and assembly are known to bend: with interprocedural register allocation a caller
 * keeps values in registers that the convention lets the callee destroy, if it knows that this
 * callee does not. What counts is the code itself:
 *
 *	call, tail call   everything may be read but what the first instructions of a known target
 *	                  overwrite without reading it (a PLT's scratch registers, say)
 *	return            everything but the scratch registers whose value at entry is surely gone
 *	                  and whose new value the procedure itself has used up: see spent.c
 *	system call       all general registers: a new thread goes on with a copy
 *	exception         what the landing pad reads, at every instruction that it is responsible
 *	                  for; along an unwind edge everything
 *	unknown place     everything; in a procedure with jumps to unknown places, bad code or
 *	                  overlapping instructions everything everywhere
 *
 * Of registers that the caller says are private to the procedure, no others read what it leaves in
 * them: they are dead at calls, traps and returns, and along unwind edges; at unknown places as
 * well, if the known code of the procedure does not touch them. System calls read them as others.
 *
 * What isa/ has no names for is never free. */
#pragma once
#include "flow/flow.h"

struct liveness {
	const struct cfg *cfg;
	const struct arch *arch;
	const struct image *image;
	/* Of each block: what may be read at its start, and after its last instruction (of a call:
	 * by the callee or anything later). */
	struct regset *at_start, *at_end;
	struct regset *always; /* of each block: what its landing pads read */
	/* Of each block: enum exclusive_flag; NULL if the procedure has no such instructions. */
	const uint8_t *exclusive;
	struct regset private;     /* to the procedure */
	struct regset touched;     /* read or written by some instruction, also implicitly */
	struct regset *touched_in; /* the same of each block */
	bool unknown; /* everything is live everywhere, but what is private and untouched */
};

/* Where blocks touch sequences of a load-exclusive and its store-exclusive. */
enum exclusive_flag {
	EXCLUSIVE_BEFORE = 1 << 0,  /* a load may have come before its start, without a store */
	EXCLUSIVE_AFTER = 1 << 1,   /* a store may come after its end, without a load */
	EXCLUSIVE_PENDING = 1 << 2, /* the first, at its end */
	EXCLUSIVE_AWAITED = 1 << 3, /* the second, at its start */
};

/* For one procedure; the result lives in `a`. `private` may be empty. */
void liveness_find(struct liveness *out, const struct flow *f, const struct cfg *g,
		   struct regset private, struct arena *a, struct arena *tmp);
/* What may be read by the instruction at va or after it. `va` must be the start of an instruction
 * of the block. */
struct regset liveness_before(const struct liveness *l, uint32_t block, uint64_t va);
/* What may be read once control has gone along an edge. */
struct regset liveness_on_edge(const struct liveness *l, const struct edge *edge);
/* Whether the instruction at va may execute between a load-exclusive and its store-exclusive, where
 * an access to memory could make the store fail for ever. */
bool liveness_in_exclusive(const struct liveness *l, uint32_t block, uint64_t va);
bool liveness_exclusive_on_edge(const struct liveness *l, const struct edge *edge);
/* All registers and flags that probes may use, but `live`. */
struct regset liveness_free(const struct arch *arch, const struct regset *live);
