/* The recipes of one image, found procedure by procedure when they are first needed.
 *
 * For each procedure the code is interpreted abstractly along its flow graph: every register and
 * stack slot either holds what some register held at entry, or an address at a known distance from
 * the CFA, or something else. Where each return and tail call that is reached finds the frame as
 * the caller left it, this is proof that the analysis is right, and its recipes are used. Otherwise
 * call frame information is used where there is some, but for code right behind the entry and right
 * before an exit that is in order.
 *
 * Not safe for use by several threads at once. */
#pragma once
#include "flow/flow.h"
#include "unwind/recipe.h"

struct recipes;

struct recipes_options {
	bool no_cfi;      /* do not read call frame information: for tests */
	bool no_analysis; /* use call frame information alone: for tests */
};

/* `f` and its image must outlive the result; the flow need not be discovered: that is done when an
 * address is asked for of which the file's own tables say nothing. `options` may be NULL. */
struct recipes *recipes_open(struct flow *f, const struct recipes_options *options);
void recipes_close(struct recipes *r);
/* While they are held, nothing is discovered, as other threads look at the flow, the parts of which
 * are joined: code for which that would be needed has no recipe. */
void recipes_hold(struct recipes *r, bool held);

/* The recipe for code at va; never NULL, but its CFA may be unknown. The pointer is good until the
 * next call. */
const struct recipe *recipes_at(struct recipes *r, uint64_t va);

/* The entries of one procedure and its recipes, for dumps and for compiled tables. */
struct recipe_span {
	uint64_t start, end;
	const struct recipe_entry *entries;
	uint32_t count;
};
/* The span of the procedure (or of its split-off part) that holds va; count is 0 if there is none.
 */
struct recipe_span recipes_span(struct recipes *r, uint64_t va);
const struct recipe *recipes_recipe(const struct recipes *r, uint32_t number);
/* What entries are relative to. */
uint64_t recipes_base(const struct recipes *r);
