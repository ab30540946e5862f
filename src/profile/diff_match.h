/* Which procedure or loop of one profile is which of another.
 *
 * Between two builds names stay, files seldom move, lines move often and addresses always. So what
 * agrees in most is matched first, and what is left over by less and less: see the levels in
 * diff_match.c. Of several that look the same, the first in the code goes with the first. */
#pragma once
#include "profile/flat.h"

struct match_item {
	uint32_t row, scope; /* of the flat view, of the profile */
	uint32_t procedure;  /* of a loop: item of its procedure */
	uint32_t partner;    /* item of the other side, or PROFILE_NONE */
	uint32_t pair;       /* the same number for partners, or PROFILE_NONE */
	uint64_t address;
};

typedef VEC(struct match_item) match_list;

struct match_side {
	const struct profile *profile;
	const struct flat *flat;
	match_list procedures, loops; /* by address */
};

/* Fills in everything but profile and flat, which must be there. */
void match_sides(struct match_side *a, struct match_side *b);
void match_release(struct match_side *s);
