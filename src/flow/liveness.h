/* Which registers may still be read, at each instruction of a procedure.
 *
 * Wrong answers silently change a program's results, so nothing is taken from calling conventions
 * that compilers are known to bend: with interprocedural register allocation a caller keeps values
 * in registers that the convention lets the callee destroy, if it knows that this callee does not.
 * Hence: a call may read everything but what every convention leaves undefined across it (nothing);
 * at a return everything may be read but those temporary registers that the procedure's own code
 * writes somewhere and that carry no result; where control goes to an unknown place, everything.
 * Landing pads: everything. The stack pointer and what isa/ has no names for are always live. */
#pragma once
#include "flow/flow.h"

struct liveness {
	const struct cfg *cfg;
	const struct arch *arch;
	const struct image *image;
	struct regset *at_end; /* of each block: what may be read after its last instruction */
	struct regset at_exit; /* what may be read after a return or tail call */
	const bool *exclusive; /* of each block: begins between a load-exclusive and its store */
};

/* For one procedure; the result lives in `a`. */
void liveness_find(struct liveness *out, struct flow *f, const struct cfg *g, struct arena *a,
		   struct arena *tmp);
/* What may be read by the instruction at va or after it. `va` must be the start of an instruction
 * of the block. */
struct regset liveness_before(const struct liveness *l, uint32_t block, uint64_t va);
/* What may be read once control has gone along an edge. */
struct regset liveness_on_edge(const struct liveness *l, const struct edge *edge);
/* Whether the instruction at va may execute between a load-exclusive and its store-exclusive, where
 * an access to memory could make the store fail for ever. */
bool liveness_in_exclusive(const struct liveness *l, uint32_t block, uint64_t va);
bool liveness_exclusive_on_edge(const struct liveness *l, const struct edge *edge);
/* All registers and flags that isa/ names, but `live`. */
struct regset liveness_free(const struct arch *arch, const struct regset *live);
