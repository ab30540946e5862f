/* One ring for each processor, into which all events on that processor are led. */
#pragma once
#include "sample/perf_open.h"
#include "sample/ring.h"

struct cpu_ring {
	int cpu;
	int fd; /* an event of our own that counts nothing: it holds the ring, whoever ends */
	struct perf_event_mmap_page *page;
	struct ring ring;
	struct record record; /* the first that is not delivered */
	bool filled;          /* there is such a record */
};

struct perf_rings {
	struct cpu_ring *rings;
	unsigned count;
	size_t bytes; /* of each, without its first page */
};

typedef void (*record_fn)(void *ctx, const struct record *r);

/* Large ones if permitted, else as large as permitted. */
int perf_rings_open(struct perf_rings *p, struct err *e);
void perf_rings_close(struct perf_rings *p);

/* Delivers, in the order of time, what was written before `until` (CLOCK_MONOTONIC), which must be
 * a time before this call unless nothing is being written any more.
 *
 * Then causes come before effects even between processors: a thread cannot be sampled in a mapping,
 * or as a child, before the record of the mmap or fork was complete; so if the record was not there
 * yet when we looked into its ring, the sample is of a later time than `until`. */
void perf_rings_drain(struct perf_rings *p, uint64_t until, record_fn deliver, void *ctx);
