/* Reading the values in the areas of threads, to keep them or to add them up. */
#pragma once
#include "probe/region/target.h"

/* Moves the values of an area to `kept`. */
void keep_paths(struct target *t, uint32_t area, int tid);
void keep_waits(struct target *t, uint32_t area, int tid);
/* Keeps the counts of a thread before its area is freed, or when counting ends. */
void keep_counts(struct target *t, uint32_t slot, bool ended);
/* Keeps the table of initialised objects before the region of an ended process is unmapped. */
void keep_made(struct target *t);

/* Visits every pair of call and target, of any subject. */
void read_calls(struct target *t, call_visitor visit, void *ctx);
/* A plain counter, summed over all threads that there were. */
uint64_t read_counter(struct target *t, uint32_t counter);

/* Forgets waits of ended threads that belong to removed subjects, if there are many of them. */
void waits_forget_removed(struct target *t);
/* Removes the cells of removed subjects to make room. The thread must be stopped outside of the
 * runtime. */
void waits_make_room(struct target *t, int tid);
