/* The tree upside down: first all functions by their self; below each function its callers, with
 * the part of that self that came through the call; below those their callers, and so on. If a call
 * was made in a loop or inlined call, that node is between the callee and the caller's function;
 * line nodes are not.
 *
 * Such trees are large where calls are deep. So only nodes with a minimum share of the whole are
 * created, and only down to a maximum depth. */
#pragma once
#include "profile/tree.h"

struct callers_options {
	double min_share;   /* share of the root's total, 0 to 1: paths with less are left out */
	uint32_t max_depth; /* levels of nodes below the root */
};

/* In the result, the total of a node is the amount that came through it, and its self is the
 * part of that whose path starts there: it has no callers. What remains of the total after
 * subtracting self and children was left out. Work of the kernel counts for the function that
 * entered it. `t` may have lines or not. */
void callers_build(struct tree *out, const struct tree *t, const struct callers_options *o);
