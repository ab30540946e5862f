/* There is one ring for each CPU, into which all events on that CPU write.
 *
 * Delivering a record may take long: a new module is analysed during the first sample in it. If the
 * ring is full by then, the kernel drops further records. So a thread, the reader, empties the
 * rings as they fill:
 *
 *	kernel -> ring -> copied -> unread -> reading -> deliver
 *	       [reader and drain] [         drain only         ]
 *
 * `lock` protects the reading side of each ring, and `copied`. */
#pragma once
#include <pthread.h>

#include "sample/perf_open.h"
#include "sample/presence.h"

/* Records that were copied out of a ring, without the unfilled part of their stacks. */
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
	int fd; /* a dummy event of our own: it keeps the ring when a thread ends */
	struct perf_event_mmap_page *page;
	struct ring whole; /* the ring as it is mapped; its tail is data_tail */
	struct ring_copies copied, unread;
	struct ring_copy *reading;
	struct ring ring;     /* over the bytes of `reading` */
	struct record record; /* the first one that is not delivered yet */
	bool filled;          /* `record` is valid */
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

/* Opens the rings, as large as is permitted, up to a limit of ours. */
int perf_rings_open(struct perf_rings *p, struct err *e);
void perf_rings_close(struct perf_rings *p);

/* perf_copies.c */
void copies_append(struct ring_copies *to, struct ring_copies more);
/* Takes the first copy off the list; NULL if the list is empty. */
struct ring_copy *copies_take(struct ring_copies *from);
/* Copies the contents of all rings to `copied`, and gives the room back to the kernel. Returns
 * whether there was anything to copy. The caller holds the lock. */
bool perf_rings_copy(struct perf_rings *p);

/* Delivers, in the order of time, what was written up to the time `until` (CLOCK_MONOTONIC). That
 * must be before this call, unless nothing writes any more.
 *
 * Causes are delivered before their effects, even if these are on another CPU. For a thread cannot
 * be sampled in a mapping, or as a child, before the record of the mmap or fork is complete. If
 * that record was not in its ring yet when drain looked there, the sample is later than `until`,
 * and is not delivered by this call. The reader does not change that: whatever it has copied, drain
 * looks into all rings once more before it delivers anything. */
void perf_rings_drain(struct perf_rings *p, uint64_t until, record_fn deliver, void *ctx);

/* Start and stop the reader. If no thread can be started, only drain empties the rings, and its
 * caller polls the rings. With a reader, its caller polls only `news`: one poller of a ring takes
 * the wakeup away from all others. */
void perf_reader_start(struct perf_rings *p);
void perf_reader_stop(struct perf_rings *p);
