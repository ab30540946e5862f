/* Matches the functions and loops of one profile to those of another.
 *
 * Between two builds, names stay, files seldom move, lines move often, and addresses always
 * change. So items that agree in most properties are matched first, the remaining ones by fewer
 * and fewer properties: see the levels in diff_match.c. If several items have the same
 * properties, they are paired in address order. */
#pragma once
#include "profile/flat.h"

struct match_item {
	uint32_t row, scope; /* row of the flat view; scope of the profile */
	uint32_t function;   /* of a loop: index of its function's item */
	uint32_t partner;    /* index of its item on the other side, or PROFILE_NONE */
	uint32_t pair;       /* equal for partners, or PROFILE_NONE */
	uint64_t address;
};

typedef VEC(struct match_item) match_list;

struct match_side {
	const struct profile *profile;
	const struct flat *flat;
	match_list functions, loops; /* by address */
};

/* The caller sets `profile` and `flat`; this fills in the rest. */
void match_sides(struct match_side *a, struct match_side *b);
void match_release(struct match_side *s);
