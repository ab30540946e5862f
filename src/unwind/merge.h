/* Merging call frame information into the recipes found by analysis. */
#pragma once
#include "module/cfi.h"
#include "unwind/analyse.h"

/* Merges call frame information for the span into the recipes. It replaces recipes where it gives
 * the CFA and the analysis is not proven, or found code that no path reaches. Where it says that
 * there is no caller, it always replaces them, because the code cannot show that. `c` may be NULL.
 */
void merge_cfi(struct analysis *a, const struct module *im, struct cfi *c, const struct arch *arch,
	       const struct part *span);
