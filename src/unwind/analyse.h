/* Recipes of one function, derived from its code alone. */
#pragma once
#include "base/vec.h"
#include "flow/flow.h"
#include "unwind/recipe.h"

/* A recipe and the code that it is valid for. */
struct recipe_run {
	uint64_t start, end;
	struct recipe recipe;
	/* Valid even if the function is not proven: straight code from the entry, or code that
	 * leads straight to an exit which finds the caller's registers restored. */
	bool certain;
};

struct analysis {
	/* sorted and disjoint: code that paths reach, and the code between */
	VEC(struct recipe_run) runs;
	/* True if some return or tail call was reached, all of them found the frame as the caller
	 * left it, and no two paths to an address disagree about the stack pointer. */
	bool proven;
};

/* A function to analyse. */
struct analysis_input {
	const struct module *module;
	const struct arch *arch;
	const struct function *function;
	const struct cfg *g;
	const struct part *spans; /* the function's address ranges */
	uint32_t span_count;
	/* The registers that the function at `target` does not change although it could: compilers
	 * rely on that for functions whose code they know. */
	uint32_t (*kept)(void *ctx, uint64_t target);
	void *ctx;
};

/* The caller owns the result's vector; it is emptied first. */
void analyse_function(struct analysis *out, const struct analysis_input *in, struct arena *tmp);
/* Analyses code that belongs to no known function, as if one began at `start` and after each
 * return. */
void analyse_loose_code(struct analysis *out, const struct module *m, const struct arch *arch,
			uint64_t start, uint64_t end);
