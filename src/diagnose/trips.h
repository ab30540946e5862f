/* Trip counts of loops. They are counted for a moment only: a loop that is entered often has short
 * trips, and its counters take as much time as the loop itself. */
#pragma once
#include "diagnose/probes.h"

struct trip {
	uint32_t part;
	VEC(struct probe_in) in;
	double since;   /* s: when its counters were inserted; 0: not yet */
	double seconds; /* for which they were in; 0: they still are, or are not yet */
	uint64_t entries, iterations;
};

struct trips {
	struct probes *probes;
	VEC(struct trip) list;
};

void trips_init(struct trips *t, struct probes *p);
void trips_release(struct trips *t);

/* Counts the trips of a loop from the next commit on, unless they were counted before. */
void trips_count(struct trips *t, uint32_t part);
/* True if trips_check() should be called soon. */
bool trips_are_counted(const struct trips *t);
/* Removes counters that have counted long enough, with the next commit. */
void trips_check(struct trips *t, double now);

/* NULL: not known. */
const struct trip *trips_of(const struct trips *t, uint32_t part);
