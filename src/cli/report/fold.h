/* Recursion folded: a procedure that is among its own callers is that caller. What it does when it
 * is called again is added to what it does, so that recursion of any depth, through whatever other
 * procedures, is one level of the tree; and the tree is no deeper than there are procedures. */
#pragma once
#include "profile/tree.h"

struct folded {
	struct tree tree;
	uint32_t *levels; /* of each node: how many levels of recursion were folded into it */
};

void fold_tree(struct folded *out, const struct tree *t);
void folded_release(struct folded *f);
