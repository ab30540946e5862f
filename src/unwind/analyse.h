/* Recipes of one procedure from its code alone. */
#pragma once
#include "base/vec.h"
#include "flow/flow.h"
#include "unwind/recipe.h"

/* A recipe and the code it is for. */
struct recipe_run {
	uint64_t start, end;
	struct recipe recipe;
	/* Needs no proof: straight code from the entry, or code that leads straight to an exit
	 * which finds the caller's registers restored. */
	bool certain;
};

struct analysis {
	VEC(struct recipe_run)
	runs; /* sorted, disjoint; reached code, then also what lies between */
	/* Some return or tail call was reached, and all that were found the frame as the caller
	 * left it; and no two paths to an address disagree about the stack pointer. */
	bool proven;
};

/* A procedure to analyse. */
struct analysis_input {
	const struct image *im;
	const struct arch *arch;
	const struct procedure *procedure;
	const struct cfg *g;
	const struct part *spans; /* its address ranges */
	uint32_t span_count;
	/* The registers that the procedure at `target` leaves alone, beyond what it has to:
	 * compilers make use of that for procedures whose code they know. */
	uint32_t (*kept)(void *ctx, uint64_t target);
	void *ctx;
};

/* The result's vector is the caller's; it is emptied first. */
void analyse_procedure(struct analysis *out, const struct analysis_input *in, struct arena *tmp);
/* Code that belongs to no known procedure: as if one began at `start` and behind each return. */
void analyse_loose_code(struct analysis *out, const struct image *im, const struct arch *arch,
			uint64_t start, uint64_t end);
