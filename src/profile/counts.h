/* Counters added up by scope: over the selected threads, and over all machine loops of one source
 * loop (the compiler splits, peels and vectorises loops). */
#pragma once
#include "profile/profile.h"

/* Entries of a loop that had `low` to `high` iterations. */
struct counts_trips {
	uint64_t low, high, entries;
};

struct counts_row {
	uint32_t scope;
	bool loop;
	uint8_t flags;          /* enum profile_counters_flag, of any of its counters */
	uint32_t machine_loops; /* number of its machine loops; 1 for a function */
	uint32_t threads;       /* number of threads that entered it */
	uint64_t entries, iterations;
	uint64_t trip_min, trip_max; /* of entries that ended; meaningless if trips_count is 0 */
	uint64_t mix[INSN_CLASSES], instructions; /* own instructions by class; their sum */
	uint32_t first_trips, trips_count; /* its histogram in counts.trips, sorted by `low` */
};

struct counts {
	VEC(struct counts_row) rows; /* sorted by scope */
	VEC(struct counts_trips) trips;
	uint64_t mix[INSN_CLASSES], instructions; /* of all counters, with or without a scope */
};

/* `thread` returns true for selected threads; NULL: all. The profile must be fused. */
void counts_build(struct counts *c, const struct profile *p, bool (*thread)(void *ctx, uint32_t),
		  void *ctx);
void counts_release(struct counts *c);
/* Returns NULL if the scope has no counts. */
const struct counts_row *counts_of(const struct counts *c, uint32_t scope);
