/* Paths that the runtime could not walk. */
#pragma once
#include "probe/region/target.h"

/* Walks the stacks that the runtime has recorded since the last call; false if there were none. */
bool raw_resolve(struct target *t);
/* The path of a raw record, which is walked now if it has not been yet; false if there is no such
 * record. Frames are innermost first, and valid until the next record is walked. */
struct raw_path {
	const uint64_t *frames;
	uint32_t count;
	bool complete;
};
bool raw_find(struct target *t, uint64_t offset, struct raw_path *out);
void raw_release(struct target *t);
