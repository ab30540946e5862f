/* Where code jumps into the middle of other procedures.
 *
 * Hand-written code does: glibc's setjmp goes on inside __sigsetjmp. Whoever moves or overwrites a
 * procedure's code must know the places where control comes in besides its entry.
 *
 * To decode all code of an image for that would take seconds with large ones. So jumps that reach
 * far are found by their looks, which other bytes may have as well; and when a procedure is asked
 * for, only that code is decoded which seems to jump into it, or is so close that short jumps may
 * do. All of it works with what is known of the image's procedures, be they discovered or not. */
#pragma once
#include "base/vec.h"
#include "flow/far_jumps.h"
#include "flow/flow.h"

struct intrusions {
	struct flow *flow;
	VEC(struct far_jump) jumps; /* perhaps; to other procedures' middles, ascending by target */
};

typedef VEC(uint64_t) place_list;

/* Looks at all code of the image once. */
void intrusions_find(struct intrusions *out, struct flow *f);
void intrusions_release(struct intrusions *in);
/* Adds to `out` the places in the blocks of the procedure, its entry aside, that code of others
 * jumps to; in no order, and some more than once. */
void intrusions_into(const struct intrusions *in, uint32_t procedure, const struct cfg *g,
		     place_list *out);
