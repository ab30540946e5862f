/* Work over many items on all processors. Items are handed out in small batches from one counter,
 * so uneven items balance; `worker` numbers the thread (0 .. parallel_workers()-1), for per-thread
 * state. */
#pragma once
#include <stdint.h>

typedef void (*parallel_fn)(void *ctx, uint32_t item, uint32_t worker);

/* Threads that parallel_for() uses at most: the processors this process may run on, at most 64. */
uint32_t parallel_workers(void);

/* Runs fn on each item 0 .. count-1 and returns when all are done; the caller's thread works too,
 * as worker 0. Starting a thread may fail: the others then do its share. */
void parallel_for(uint32_t count, uint32_t batch, parallel_fn fn, void *ctx);

/* The same for items that have to be finished one after the other, in order, by the caller's thread
 * alone: `make` is called for each on any thread, `take` for 0, 1, ... as they are made. No more
 * than `ahead` items are made and not taken at any time, so that what belongs to item i can be kept
 * in place i % ahead. */
void parallel_in_order(uint32_t count, uint32_t ahead, parallel_fn make,
		       void (*take)(void *ctx, uint32_t item), void *ctx);
