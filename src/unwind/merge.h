/* Merging call frame information into the recipes found by analysis. */
#pragma once
#include "image/cfi.h"
#include "unwind/analyse.h"

/* Inside the span: where the analysis is not proven, or found code that no path reaches, and call
 * frame information knows the CFA, that is used. Where it says that there is no caller, that holds
 * in any case: code cannot tell. `c` may be NULL. */
void merge_cfi(struct analysis *a, const struct image *im, struct cfi *c, const struct arch *arch,
	       const struct part *span);
