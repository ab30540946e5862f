/* How often loops are entered and functions are called, and the trips of loops. They are counted
 * for a moment only: counters take as much time as a short trip or call itself. */
#pragma once
#include "diagnose/probes.h"

struct trip {
	uint32_t part;
	uint32_t process, subject; /* SUBJECT_NONE: it cannot be counted */
	double since;              /* s: when its counters were inserted; 0: not yet */
	double seconds;            /* for which they were in; 0: they still are, or are not yet */
	uint64_t entries, iterations;
};

struct trips {
	struct probes *probes;
	VEC(struct trip) list;
};

void trips_init(struct trips *t, struct probes *p);
void trips_release(struct trips *t);

/* Counts a loop or function from the next commit on, unless it was counted before: in the process
 * that executes it most. */
void trips_count(struct trips *t, uint32_t part);
/* True if trips_check() should be called soon. */
bool trips_are_counted(const struct trips *t);
/* Removes counters that have counted long enough, with the next commit. */
void trips_check(struct trips *t, double now);
