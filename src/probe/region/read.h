/* Values in the areas of threads, for those who keep them or add them up. */
#pragma once
#include "probe/region/target.h"

/* Moves the values of an area to `kept`. */
void keep_paths(struct target *t, uint32_t area, int tid);
void keep_waits(struct target *t, uint32_t area, int tid);
/* Of a thread that is about to be forgotten. */
void keep_counts(struct target *t, uint32_t slot, bool ended);
/* The process is gone, and its region will be. */
void keep_made(struct target *t);

/* Every pair of call and target, of whatever subject. */
void read_calls(struct target *t, call_visitor visit, void *ctx);
/* A plain counter, summed over all threads there were. */
uint64_t read_counter(struct target *t, uint32_t counter);

/* If many waits of dead threads are of removed subjects, they go. */
void waits_forget_removed(struct target *t);
/* With the thread stopped outside of the runtime: makes room where subjects were that are gone. */
void waits_make_room(struct target *t, int tid);
