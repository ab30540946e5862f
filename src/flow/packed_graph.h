/* A flow graph in few bytes, for the graphs of all functions of a module: about 6 bytes for a block
 * with its edges, where struct cfg takes 80.
 *
 *	counts | escapes | blocks | edges | tables
 *
 * Numbers take one byte for each 7 bits. Addresses and the blocks that edges lead to are
 * differences from what precedes them. Blocks come without their edges, so that who only looks at
 * the blocks reads little. */
#pragma once
#include "base/arena.h"
#include "flow/cfg.h"

struct packed_graph;

const struct packed_graph *graph_pack(const struct cfg *g, struct arena *a, struct arena *tmp);
/* The graph as it was. Everything is in `a`. */
const struct cfg *graph_unpack(const struct packed_graph *p, struct arena *a);

/* Reads a graph from its beginning: first escapes, then blocks. */
struct packed_reader {
	const uint8_t *at;
	uint64_t last; /* the last escape, or the end of the last block */
	uint32_t escapes_left, blocks_left;
	uint32_t next_edge;
	uint32_t block_count, edge_count, table_count, escape_count, entry;
};

void packed_open(struct packed_reader *r, const struct packed_graph *p);
/* These return false if there is none left. Before the first block, the rest of the escapes is
 * skipped. */
bool packed_escape(struct packed_reader *r, uint64_t *va);
bool packed_block(struct packed_reader *r, struct block *out);

/* Whether a block holds va. */
bool packed_has(const struct packed_graph *p, uint64_t va);
