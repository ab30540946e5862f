/* Tallies added up by scope: those of the chosen threads, and of all machine loops that are one
 * loop of the source (the compiler splits, peels and vectorises). */
#pragma once
#include "profile/profile.h"

/* Entries of a loop that had `low` to `high` iterations. */
struct counts_trips {
	uint64_t low, high, entries;
};

struct counts_row {
	uint32_t scope;
	bool loop;
	uint8_t flags;          /* of any of them: enum profile_tally_flag */
	uint32_t machine_loops; /* how many it is made of; of a procedure 1 */
	uint32_t threads;       /* that entered it */
	uint64_t entries, iterations;
	uint64_t trip_min, trip_max;              /* of entries that ended: trips_count tells */
	uint64_t mix[INSN_CLASSES], instructions; /* own ones; their sum */
	uint32_t first_trips, trips_count;        /* its histogram, by `low` */
};

struct counts {
	VEC(struct counts_row) rows; /* by scope */
	VEC(struct counts_trips) trips;
	uint64_t mix[INSN_CLASSES], instructions; /* of everything, scope or not */
};

/* `thread` is true for threads that count; NULL: all. The profile must be fused. */
void counts_build(struct counts *c, const struct profile *p, bool (*thread)(void *ctx, uint32_t),
		  void *ctx);
void counts_release(struct counts *c);
/* NULL if nothing was counted of it. */
const struct counts_row *counts_of(const struct counts *c, uint32_t scope);
