/* The memory of a structure's arrays. In the cache file they follow each other:
 *
 *	functions | loops | ranges | scopes | text
 *
 * The sizes of the first three are multiples of 8, so everything is aligned without padding. What
 * comes from the cache is one block; what was built has a block for each array. */
#pragma once
#include "module/bytes.h"
#include "structure/structure.h"

enum { STORAGE_PARTS = 5 };

struct storage_counts {
	uint32_t functions, loops, ranges, scopes, text;
};

uint64_t storage_size(const struct storage_counts *n);
/* Points s to the arrays, and takes ownership of them. */
void storage_attach(struct structure *s, void *const arrays[STORAGE_PARTS],
		    const struct storage_counts *n);
/* The same for arrays that follow each other in one block. */
void storage_attach_block(struct structure *s, void *block, const struct storage_counts *n);
/* The bytes of the arrays, in order. */
void storage_parts(const struct structure *s, struct slice out[STORAGE_PARTS]);
/* True if every index and offset in s is within bounds and texts are terminated: nothing else of a
 * file is trusted. */
bool storage_is_sound(const struct structure *s);
