/* Makes one structure of the results of many builders.
 *
 * Results are taken over now and then, so that they are never there twice: in a large library they
 * take half a gigabyte. Functions that are taken over together are in the order of their numbers,
 * and so are texts; so the result does not depend on how functions were dealt out to builders. */
#pragma once
#include "structure/builder.h"

struct structure_join {
	VEC(struct structure_function) functions;
	VEC(struct machine_loop) loops;
	VEC(struct address_range) ranges;
	VEC(struct scope) scopes;
	struct text_pool text;
};

void join_init(struct structure_join *j);
/* Moves all results out of the builders. The numbers of their functions must differ. */
void join_add(struct structure_join *j, struct structure_builder *builders, uint32_t count);
/* Adds the functions of a structure that was made before, but for those that are there already. To
 * be called last. */
void join_add_known(struct structure_join *j, const struct structure *known);
/* Returns the structure; nothing is left in j. */
struct structure *join_finish(struct structure_join *j);
