/* Code memory of a process: regions near the code they serve, given out in pieces.
 *
 * Only bookkeeping: which addresses are free is taken from the maps file, and mapping is the
 * caller's (probe/), who is told where. */
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

/* `size` bytes (made a multiple of 16) that jumps from everywhere in [low, high) reach, `reach`
 * bytes being the limit both ways, counted to the far end of the piece. False if no region has
 * them; `out` is as it was then. */
bool pool_take(struct pool *p, uint64_t low, uint64_t high, uint64_t reach, uint64_t size,
	       uint64_t *out);
void pool_give(struct pool *p, uint64_t start, uint64_t size);
/* A region that was mapped is in the pool from now on; it goes on where another one ends. */
void pool_add(struct pool *p, uint64_t start, uint64_t size);

/* A new region of `most` bytes, or else as large as possible, but not below `least` (multiples of
 * the page size), all of it within `reach` of all of [low, high). */
struct pool_need {
	uint64_t low, high, reach;
	uint64_t least, most;
};
/* Where it may be mapped: free in the maps file's text, not where the heap (brk) or the stack grow,
 * as near as possible. `heap` is where a heap will begin that is not there yet; 0 if that is not
 * known. Its size; 0 if there is no such place. */
uint64_t pool_find_gap(const char *maps_text, uint64_t heap, const struct pool_need *need,
		       uint64_t *out);
/* A place for `size` bytes in the largest gap, far from code, which needs its neighbourhood, and
 * from whatever grows; 0 if there is none so large. Not in the middle, nor at a quarter: libraries
 * for MPI (hwloc, Open MPI, PMIx) share memory there, at an address that must be free in all
 * processes of a job. */
uint64_t pool_aside(const char *maps_text, uint64_t size);
