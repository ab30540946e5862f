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
