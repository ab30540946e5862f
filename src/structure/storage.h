/* The memory of a structure's arrays: one block, which is the same in the cache file.
 *
 *	functions | loops | ranges | scopes | text
 *
 * The sizes of the first three are multiples of 8, so everything is aligned without padding. */
#pragma once
#include "structure/structure.h"

struct storage_counts {
	uint32_t functions, loops, ranges, scopes, text;
};

uint64_t storage_size(const struct storage_counts *n);
/* Points s to the parts of the block, and takes ownership of it. */
void storage_attach(struct structure *s, void *block, const struct storage_counts *n);
/* True if every index and offset in s is within bounds and texts are terminated: nothing else of a
 * file is trusted. */
bool storage_is_sound(const struct structure *s);
