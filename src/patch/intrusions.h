/* Finds jumps into the middle of other functions.
 *
 * Hand-written code has them: glibc's setjmp continues inside __sigsetjmp. Code that moves or
 * overwrites a function must know all places where control enters it besides its entry.
 *
 * Decoding all code of a large module would take seconds. So jumps that reach far are found by
 * their byte pattern, which other bytes may match as well. For a given function, only the code is
 * decoded that seems to jump into it, or is so close that a short jump may reach it. This works
 * with the functions known so far, discovered or not. */
#pragma once
#include "base/vec.h"
#include "flow/far_jumps.h"
#include "flow/flow.h"

struct intrusions {
	struct flow *flow;
	/* possible jumps into the middle of other functions, ascending by target */
	VEC(struct far_jump) jumps;
};

typedef VEC(uint64_t) place_list;

/* Scans all code of the module once. */
void intrusions_find(struct intrusions *out, struct flow *f);
void intrusions_release(struct intrusions *in);
/* Adds to `out` the places in the blocks of the function, except its entry, that code of other
 * functions jumps to; unsorted, possibly with duplicates. */
void intrusions_into(const struct intrusions *in, uint32_t function, const struct cfg *g,
		     place_list *out);
