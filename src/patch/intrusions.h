/* Where code jumps into the middle of other procedures.
 *
 * Hand-written code does: glibc's setjmp goes on inside __sigsetjmp. Whoever moves or overwrites a
 * procedure's code must know the places where control comes in besides its entry. */
#pragma once
#include "base/vec.h"
#include "flow/flow.h"

struct intrusions {
	VEC(uint64_t) va; /* ascending */
};

/* Looks at all code of the image once, with every processor; after flow_discover(). */
void intrusions_find(struct intrusions *out, struct flow *f);
void intrusions_release(struct intrusions *in);
/* The index of the first at va or behind it. */
uint32_t intrusions_from(const struct intrusions *in, uint64_t va);
