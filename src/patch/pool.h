/* Code memory of a process: regions near the code they serve, handed out in pieces.
 *
 * This is only bookkeeping: the free addresses are taken from the maps file, and the caller
 * (probe/) does the mapping. */
#pragma once
#include "base/vec.h"
#include <stdbool.h>
#include <stdint.h>

struct pool_piece {
	uint64_t start, end;
};

struct pool_region {
	uint64_t start, end;
	VEC(struct pool_piece) free; /* ascending, not adjacent */
};

struct pool {
	VEC(struct pool_region) regions;
};

void pool_release(struct pool *p);

/* Takes `size` bytes (rounded up to a multiple of 16) that jumps from everywhere in [low, high)
 * reach: at most `reach` bytes in either direction, measured to the far end of the piece. False if
 * no region has them; then `out` is unchanged. */
bool pool_take(struct pool *p, uint64_t low, uint64_t high, uint64_t reach, uint64_t size,
	       uint64_t *out);
/* Gives bytes back that were taken. */
void pool_give(struct pool *p, uint64_t start, uint64_t size);
/* Adds a region that was mapped; if another region ends at its start, that one is extended. */
void pool_add(struct pool *p, uint64_t start, uint64_t size);

/* The requirements for a new region: `most` bytes, or else as many as possible, but at least
 * `least` (multiples of the page size), all of it within `reach` of all of [low, high). */
struct pool_need {
	uint64_t low, high, reach;
	uint64_t least, most;
};
/* Finds a place for it: free according to the text of the maps file, not where the heap (brk) or
 * the stack grow, as near as possible. `heap` is where a heap will begin that does not exist yet; 0
 * if that is unknown. Returns the size of the place; 0 if there is none. */
uint64_t pool_find_gap(const char *maps_text, uint64_t heap, const struct pool_need *need,
		       uint64_t *out);
/* A place for `size` bytes in the largest gap, far from code, which needs its neighbourhood for
 * jumps, and from everything that grows; 0 if no gap is large enough. The place is neither in the
 * middle of the gap nor at a quarter: MPI's libraries (hwloc, Open MPI, PMIx) share memory there,
 * at an address that must be free in all processes of a job. */
uint64_t pool_aside(const char *maps_text, uint64_t size);
