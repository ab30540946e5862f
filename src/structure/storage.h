/* Where a structure's arrays live: one block of memory, the same in the cache file.
 *
 *   procedures | loops | ranges | scopes | text
 *
 * The first three have sizes that are multiples of 8, so that everything is aligned without
 * padding. */
#pragma once
#include "structure/structure.h"

struct storage_counts {
	uint32_t procedures, loops, ranges, scopes, text;
};

uint64_t storage_size(const struct storage_counts *n);
/* Points s at the parts of the block and takes it over. */
void storage_attach(struct structure *s, void *block, const struct storage_counts *n);
/* True if every index and offset in s is within bounds and texts end: nothing else is trusted of a
 * file. */
bool storage_is_sound(const struct structure *s);
