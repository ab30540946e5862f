/* Folding of recursion: a call of a function that is among its own callers is merged into that
 * caller. So recursion of any depth, also through other functions, is one level of the tree, and
 * the tree is never deeper than the number of functions. */
#pragma once
#include "profile/tree.h"

struct folded {
	struct tree tree;
	uint32_t *levels; /* by node: the number of levels of recursion folded into it */
};

void fold_tree(struct folded *out, const struct tree *t);
void folded_release(struct folded *f);
