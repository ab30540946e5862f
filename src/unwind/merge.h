/* Merges call frame information into the recipes found by analysis. */
#pragma once
#include "module/cfi.h"
#include "unwind/analyse.h"

/* The recipe that a row of call frame information gives. */
struct recipe recipe_of_row(const struct cfi_row *row, const struct arch *arch);
/* Whether its CFA is that of the caller. If call frame information gives the CFA relative to a
 * register other than the stack or frame pointer, it often is not: glibc's longjmp describes the
 * frame that it jumps to. */
bool has_usual_cfa(const struct recipe *r, const struct arch *arch);

/* Merges call frame information for the span into the recipes. `c` may be NULL.
 * 1. Where it says that there is no caller, it always replaces the recipes, because the code cannot
 *    show that.
 * 2. Where it gives the CFA, it replaces them if the analysis is not proven, or found that no path
 *    reaches the code. */
void merge_cfi(struct analysis *a, const struct module *m, struct cfi *c, const struct arch *arch,
	       const struct part *span);
