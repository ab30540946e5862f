/* Turns contexts and their counters into the profile: calling contexts with instructions and calls,
 * counters of functions and loops, histograms of trip counts. */
#pragma once
#include "callpath/stacks.h"
#include "count/study.h"

struct count_reader {
	struct profile *profile;
	struct watched *watched;
	struct modules *modules;
	struct studies *studies;
	uint32_t instructions, calls, runs; /* metrics */
	/* Events that were not counted, mostly calls in signal handlers that interrupted the
	 * runtime. */
	uint64_t dropped;
	/* Edges that lead to another context because there are too many: see struct rt_count. */
	uint64_t merged, cut;
	uint64_t contradictions; /* contexts whose counters contradict each other */
	/* Called while a thread is read; may be NULL. */
	void (*progress)(void *ctx, uint32_t done, uint32_t total);
	void *ctx;
	VEC(bool) limited; /* for each row of counters: its trip_min and trip_max are set */
};

/* Adds all that was counted in a process. */
void count_read(struct count_reader *r, struct target *t);
