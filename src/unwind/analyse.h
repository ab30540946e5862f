/* Recipes of one procedure from its code alone. */
#pragma once
#include "base/vec.h"
#include "flow/flow.h"
#include "unwind/recipe.h"

/* A recipe and the code it is for. */
struct recipe_run {
	uint64_t start, end;
	struct recipe recipe;
};

struct analysis {
	VEC(struct recipe_run)
	runs; /* sorted, disjoint; reached code, then also what lies between */
	/* Some return or tail call was reached, and all that were found the frame as the caller
	 * left it; and no two paths to an address disagree about the stack pointer. */
	bool proven;
};

/* Analyses the procedure with this flow graph. `spans` are its address ranges. The result's vector
 * is the caller's; it is emptied first. */
void analyse_procedure(struct analysis *out, const struct image *im, const struct arch *arch,
		       const struct procedure *p, const struct cfg *g, const struct part *spans,
		       uint32_t span_count, struct arena *tmp);
