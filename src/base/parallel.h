/* Runs work over many items on all CPUs. Threads fetch items in small batches from one shared
 * counter, so that all of them finish at about the same time, even if items differ. `worker`
 * numbers the thread (0 .. parallel_workers()-1), for per-thread state. */
#pragma once
#include <stdint.h>

typedef void (*parallel_fn)(void *ctx, uint32_t item, uint32_t worker);

/* The most threads that parallel_for() uses: the number of CPUs this process may run on, at most
 * 64. */
uint32_t parallel_workers(void);

/* Runs fn on each item 0 .. count-1 and returns when all are done. The caller's thread works too,
 * as worker 0. If a thread cannot be started, the others do its share. */
void parallel_for(uint32_t count, uint32_t batch, parallel_fn fn, void *ctx);

/* The same for items that the caller's thread has to finish in order: `make` is called for each
 * item on any thread, then `take` for items 0, 1, ... on the caller's thread. At most `ahead` items
 * are made and not yet taken at any time, so the data of item i can be kept in slot i % ahead. */
void parallel_in_order(uint32_t count, uint32_t ahead, parallel_fn make,
		       void (*take)(void *ctx, uint32_t item), void *ctx);
