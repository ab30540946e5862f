/* The threads that are sampled by stopping them, and what /proc says about each. */
#pragma once
#include "base/vec.h"
#include "process/tid_index.h"
#include "sample/waiting.h"

struct stop_thread {
	int pid, tid;
	bool starting;       /* still a copy of ourselves that waits to become the program */
	int call_fd, run_fd; /* files of /proc that are kept open, or -1 */
	uint64_t run_time;   /* ns, up to its last sample */
	uint64_t samples;
	unsigned rests; /* times in a row that it was seen waiting */
	uint64_t next;  /* tick at which to look at it again */
	char name[16];
	struct waiting waiting; /* with --wall only */
};

struct stop_threads {
	VEC(struct stop_thread *) list;
	struct tid_index by_tid; /* places in the list */
};

void stop_threads_release(struct stop_threads *s);
/* NULL if it is not one of ours. */
struct stop_thread *stop_threads_find(const struct stop_threads *s, int tid);
struct stop_thread *stop_threads_add(struct stop_threads *s, int pid, int tid);
void stop_threads_remove(struct stop_threads *s, struct stop_thread *t);

/* Whether the thread runs or is ready to run, as opposed to waiting. */
bool stop_thread_runs(const struct stop_threads *s, struct stop_thread *t);
/* The CPU time of the thread in ns: exact while it is stopped, otherwise up to its last context
 * switch. 0 if this kernel does not count it. */
uint64_t stop_thread_run_time(const struct stop_threads *s, struct stop_thread *t);
