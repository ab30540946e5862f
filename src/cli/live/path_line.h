/* One call path in one line, with inlined calls and loops:
 *
 *	main (heat.c:40, loop 38-52) > solve inlined (solver.c:12) > dot
 */
#pragma once
#include "base/text.h"
#include "profile/places.h"
#include "profile/profile.h"

typedef VEC(uint32_t) node_numbers;

/* Appends the nodes from the root to the leaf whose places must be known to write the line.
 * PROFILE_NONE stands for the middle of a very long path. */
void path_line_nodes(const struct profile *p, uint32_t leaf, node_numbers *out);
/* Writes the call path. If `width` is not 0, it is limited to that many columns by leaving out the
 * outermost callers. `function`: the leaf represents a function as a whole. */
void path_line(struct text *out, struct places *places, const struct profile *profile,
	       uint32_t leaf, bool function, size_t width);
