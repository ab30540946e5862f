/* The tree upside down: first all procedures by what their own code spends, below each who called
 * it, with how much of that came through the call, below those their callers, and so on. A loop or
 * inlined call that the call was made from stands between the callee and the caller's procedure;
 * lines do not.
 *
 * Such trees are large where calls are deep: only what has its share of the whole, and that only to
 * some depth, is made. */
#pragma once
#include "profile/tree.h"

struct callers_options {
	double min_share;   /* of the root's total, 0 to 1: paths with less are left out */
	uint32_t max_depth; /* levels of nodes below the root */
};

/* In the result a node's total is what came through it, and its self the part of that whose path
 * begins there: what has no callers. What is left of the total without self and children was left
 * out. Work for a procedure by the kernel is the procedure's own. `t` may have lines or not. */
void callers_build(struct tree *out, const struct tree *t, const struct callers_options *o);
