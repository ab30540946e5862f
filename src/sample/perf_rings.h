/* One ring for each CPU, into which all events on that CPU are led.
 *
 * What is delivered takes its time: a new module is analysed during the first sample in it, and the
 * kernel drops what finds its ring full. So a thread empties the rings as they fill:
 *
 *	kernel -> ring -> copied -> unread -> reading -> deliver
 *	        [ the reader and drain ] [   drain only   ]
 *
 * `lock` guards taking from a ring and its `copied`. */
#pragma once
#include <pthread.h>

#include "sample/perf_open.h"
#include "sample/presence.h"

/* Records out of a ring, without what is empty in them. */
struct ring_copy {
	struct ring_copy *next;
	uint64_t size;
	uint64_t bytes[]; /* aligned as records are */
};

struct ring_copies {
	struct ring_copy *first, *last;
};

struct cpu_ring {
	int cpu;
	int fd; /* an event of our own that counts nothing: it holds the ring, whoever ends */
	struct perf_event_mmap_page *page;
	struct ring whole; /* all of it; its tail is data_tail */
	struct ring_copies copied, unread;
	struct ring_copy *reading;
	struct ring ring;     /* over the bytes of `reading` */
	struct record record; /* the first that is not delivered */
	bool filled;          /* there is such a record */
};

struct perf_rings {
	struct cpu_ring *rings;
	unsigned count;
	size_t bytes; /* of each, without its first page */
	pthread_mutex_t lock;
	size_t held; /* bytes in copies; atomic */
	struct presence *presence;

	/* perf_reader.c */
	bool has_reader;
	pthread_t reader;
	int news; /* readable if the reader has copied since the last drain */
	int stop; /* readable if the reader is to end */
};

typedef void (*record_fn)(void *ctx, const struct record *r);

/* Large ones if permitted, else as large as permitted. */
int perf_rings_open(struct perf_rings *p, struct err *e);
void perf_rings_close(struct perf_rings *p);

/* perf_copies.c */
void copies_append(struct ring_copies *to, struct ring_copies more);
/* The first; NULL: there is none. */
struct ring_copy *copies_take(struct ring_copies *from);
/* Copies what is in the rings, and gives the room back to the kernel. Returns whether there was
 * something. Needs the lock. */
bool perf_rings_copy(struct perf_rings *p);

/* Delivers, in the order of time, what was written before `until` (CLOCK_MONOTONIC), which must be
 * a time before this call unless nothing is being written any more.
 *
 * Then causes come before effects even between CPUs: a thread cannot be sampled in a mapping,
 * or as a child, before the record of the mmap or fork was complete; so if the record was not there
 * yet when we looked into its ring, the sample is of a later time than `until`. Whatever the reader
 * has copied: drain itself looks once more into all rings before it delivers anything, and what
 * comes later is not delivered by this call. */
void perf_rings_drain(struct perf_rings *p, uint64_t until, record_fn deliver, void *ctx);

/* The thread. Without it, if there cannot be one, rings are emptied by drain alone, and have to be
 * polled for that; with it, only `news` tells, as a poll takes the wakeup from all others. */
void perf_reader_start(struct perf_rings *p);
void perf_reader_stop(struct perf_rings *p);
