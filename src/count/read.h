/* From contexts and their counters to the profile: calling contexts with instructions and calls,
 * tallies of procedures and loops, histograms of trip counts. */
#pragma once
#include "callpath/stacks.h"
#include "count/study.h"

struct count_reader {
	struct profile *profile;
	struct watched *watched;
	struct images *images;
	struct studies *studies;
	uint32_t instructions, calls, runs; /* metrics */
	uint64_t dropped;        /* calls in signal handlers that interrupted the runtime, and
				    others that were not counted */
	uint64_t merged, cut;    /* calls of contexts that are those of others: see
				    struct rt_count */
	uint64_t contradictions; /* contexts whose counters contradict each other */
	/* While a thread is read; may be NULL. */
	void (*progress)(void *ctx, uint32_t done, uint32_t total);
	void *ctx;
	VEC(bool) limited; /* of each tally: its least and largest trip count are known */
};

/* Adds all that was counted in a process. */
void count_read(struct count_reader *r, struct target *t);
