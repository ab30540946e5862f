/* One call path in one line, with inlined calls and loops:
 *
 *	main (heat.c:40, loop 38-52) > solve inlined (solver.c:12) > dot
 */
#pragma once
#include "base/text.h"
#include "profile/places.h"
#include "profile/profile.h"

typedef VEC(uint32_t) node_numbers;

/* Adds the nodes from the root to the leaf whose places have to be known to write it. PROFILE_NONE
 * stands for the middle of a path that is very long. */
void path_line_nodes(const struct profile *p, uint32_t leaf, node_numbers *out);
/* Writes it in at most `width` columns, if that is not 0: then the outermost callers are left out.
 * `procedure`: the leaf stands for a procedure as a whole. */
void path_line(struct text *out, struct places *places, const struct profile *profile,
	       uint32_t leaf, bool procedure, size_t width);
