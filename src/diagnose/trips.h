/* How many iterations loops have each time that they are entered. Plain counters tell, for a moment
 * only: in a loop that is entered often, whose trips must be short, they cost as much as it does.
 */
#pragma once
#include "diagnose/probes.h"

struct trip {
	uint32_t part;
	VEC(struct probe_in) in;
	double since;   /* s: when its counters went in; 0: they have not yet */
	double seconds; /* for which they were in; 0: they still are */
	uint64_t entries, iterations;
};

struct trips {
	struct probes *probes;
	VEC(struct trip) list;
};

void trips_init(struct trips *t, struct probes *p);
void trips_release(struct trips *t);

/* Counts the trips of a loop, from the next commit on, if it has not been done. */
void trips_count(struct trips *t, uint32_t part);
/* Whether somebody should check soon; and that: what was counted long enough is taken out with the
 * next commit. */
bool trips_are_counted(const struct trips *t);
void trips_check(struct trips *t, double now);

/* NULL: not known. */
const struct trip *trips_of(const struct trips *t, uint32_t part);
