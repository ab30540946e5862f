/* The recipes of one module, found function by function when first needed.
 *
 * The code of each function is interpreted abstractly along its flow graph: every register and
 * stack slot holds either the value that some register had at entry, or an address at a known
 * distance from the CFA, or something else. If each return and tail call that is reached finds the
 * frame as the caller left it, this proves the analysis right, and its recipes are used. Otherwise
 * call frame information is used where it exists, except right after the entry and right before an
 * exit that finds the frame restored.
 *
 * Not safe for use by several threads at once. */
#pragma once
#include "flow/flow.h"
#include "unwind/recipe.h"

struct recipes;

struct recipes_options {
	bool no_cfi;      /* do not read call frame information: for tests */
	bool no_analysis; /* use call frame information alone: for tests */
	bool cached;      /* keep the recipes of large modules in the cache (recipe_cache.h) */
};

/* `f` and its module must outlive the result. The flow need not be discovered: that is done when a
 * recipe is requested for an address that the file's own tables do not cover. `options` may be
 * NULL. */
struct recipes *recipes_open(struct flow *f, const struct recipes_options *options);
void recipes_close(struct recipes *r);
/* While held, no functions are discovered, because other threads read the flow (its parts must have
 * been joined before). Code that would need a discovery then has no recipe. */
void recipes_hold(struct recipes *r, bool held);

/* The recipe for code at va; never NULL, but its CFA may be unknown. The pointer is valid until the
 * next call. */
const struct recipe *recipes_at(struct recipes *r, uint64_t va);

/* Fills in the recipe for the call instruction at va without an analysis of the code: as call frame
 * information describes it or, where there is none, a prologue that makes a frame record. Compilers
 * describe calls exactly, because exceptions pass them. But not all frame records are described,
 * nor is code that switches stacks; and who writes code by hand may describe it wrongly. Returns
 * false if the code is not described, or is analysed already. */
bool recipes_describe(struct recipes *r, uint64_t va, struct recipe *out);

/* The recipe entries of one function, for dumps and for compiled tables. */
struct recipe_span {
	uint64_t start, end;
	const struct recipe_entry *entries;
	uint32_t count;
};
/* The span of the function (or of its split-off part) that contains va; count is 0 if there is
 * none. */
struct recipe_span recipes_span(struct recipes *r, uint64_t va);
const struct recipe *recipes_recipe(const struct recipes *r, uint32_t number);
/* The address that entries are relative to. */
uint64_t recipes_base(const struct recipes *r);
