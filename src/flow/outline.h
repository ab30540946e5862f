/* What the discovery of functions keeps of a graph. In a large library, whole graphs of all
 * functions would need a gigabyte. */
#pragma once
#include "base/arena.h"
#include "flow/cfg.h"

struct outline_block {
	uint64_t start, target;
	uint32_t size;
	uint8_t end, flags; /* as in struct block */
};

struct graph_outline {
	const struct outline_block *blocks; /* sorted by start, as those of the graph */
	const uint64_t *escapes;
	uint32_t block_count, escape_count;
};

static inline struct outline_block outline_block(const struct block *b)
{
	return (struct outline_block){b->start, b->target, b->size, b->end, b->flags};
}

const struct graph_outline *outline_of(const struct cfg *g, struct arena *a);
/* Whether a block holds va. */
bool outline_has(const struct graph_outline *o, uint64_t va);
