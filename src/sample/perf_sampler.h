/* What the files of the perf sampler share; for them only. */
#pragma once
#include "base/clock.h"
#include "base/hashmap.h"
#include "base/vec.h"
#include "sample/hold.h"
#include "sample/perf_rings.h"
#include "sample/waiting.h"

enum { NS_PER_SECOND = 1000000000 };

/* What the identifier in a record stands for. */
struct event_source {
	uint32_t event;
	int tid;            /* the thread that it was opened for; 0: all that runs on the CPU */
	bool whole;         /* children and new threads too */
	uint64_t throttled; /* ns: since when the kernel has switched it off, or 0 */
};

/* A thread that was seen. Its tid may be used again by another thread later. */
struct thread {
	int pid, tid;
	bool own_events; /* opened for itself, not inherited */
	bool reported;   /* its start was reported, its end not yet */
	bool sampled;
	bool has_forked;  /* since its events were open */
	uint32_t waiting; /* index, if --wall */
	uint64_t turns;   /* on a CPU: see perf_switching.c */
};

/* An event on one thread and one CPU, or on all that runs on a CPU. Events are opened twice: once
 * with as much of the stack as is permitted, and once lean. Only one of the two is enabled.
 *
 * The first event also makes the kernel write records of mappings, names, starts and ends: an event
 * of its own for these would be one more that each new thread has to inherit. */
struct perf_file {
	int fd;
	bool lean;
};

struct end {
	int pid, pidfd;
};

struct newborn {
	int pid, tid;
	uint64_t born; /* ns */
};

struct perf_sampler {
	struct sampler base;
	struct sampler_options o;
	struct perf_rings rings;
	int wakeups;                 /* epoll: rings, ends of processes, ticks */
	VEC(struct perf_file) files; /* all events */
	VEC(struct event_source) sources;
	struct hashmap by_id; /* to sources */
	VEC(struct thread) threads;
	struct hashmap by_tid; /* to threads */
	struct hashmap live;   /* from pids to the number of threads that are reported */
	VEC(struct end) ends;  /* processes whose end is awaited */
	VEC(int) children;     /* processes that we started */
	struct holds holds;
	uint64_t opened; /* ns: when all events were open on the threads that ran already */
	bool lean;
	bool finished;

	/* See is_left_out(). */
	uint64_t thinned_since; /* ns */
	unsigned thinned;       /* samples since then */
	unsigned one_of;        /* one of so many is delivered; 0: all are */
	uint64_t chance;

	/* See perf_wide.c. */
	bool wide;        /* events are open on CPUs */
	bool crowded;     /* many threads are short-lived: something is done at the end of run() */
	bool narrow;      /* they must not be, or cannot be */
	uint64_t widened; /* ns: when those of CPUs replaced those of threads */
	unsigned short_lived;
	uint64_t short_lived_since;
	uint64_t counted; /* ns: when switches were last counted; UINT64_MAX: never again */

	/* See perf_newborn.c. */
	bool solitary;                /* events are not inherited */
	VEC(struct newborn) newborns; /* threads without events yet, in order of time */

	/* --wall */
	int ticks;
	uint32_t wall_event;
	VEC(struct waiting) waiting;
	uint32_t look_next; /* the one that was looked at last */
	uint64_t looked;    /* ns: when any was */
	uint8_t *stack;
};

/* What epoll returns: the pidfd of a process that has ended, or one of these numbers, which no file
 * has. */
enum { WOKEN_BY_RING = -1, WOKEN_BY_TICK = -2 };

static inline struct perf_sampler *perf_sampler(struct sampler *s)
{
	return (struct perf_sampler *)(void *)s;
}

/* perf_attr.c: how events are opened. */
void perf_fill_event(const struct perf_sampler *p, unsigned event, bool lean,
		     struct perf_event_attr *a);
/* 2, or 1 if full samples copy no more than lean ones. */
unsigned perf_kinds(const struct perf_sampler *p);
/* Tries each event on ourselves; finds out whether the kernel may be observed. */
int perf_check_events(struct perf_sampler *p, struct err *e);

/* perf_watch.c: opens events on threads. */
int perf_watch(struct sampler *s, int tid, bool whole, bool starting, struct err *e);
/* Opens events on one thread. Returns 1 if it has ended. */
int perf_open_thread(struct perf_sampler *p, int tid, bool whole, bool starting, struct err *e);
/* Opens events on a process that is reported already, but has inherited none. */
void perf_watch_child(struct perf_sampler *p, int pid);

/* perf_files.c */
bool perf_wake_on(struct perf_sampler *p, int fd, int what);
/* Redirects an event to the ring of its CPU, and remembers its identifier. */
int perf_add_file(struct perf_sampler *p, int fd, bool lean, const struct cpu_ring *c,
		  const struct event_source *source, struct err *e);
void perf_lean(struct sampler *s, bool lean);
/* Closes the first `count` files, and with each the events that were inherited from it. */
void perf_close_first(struct perf_sampler *p, uint32_t count);
/* When the process ends, reports the ends of those of its threads for which there was no record. */
void perf_await_end(struct perf_sampler *p, int pid);

/* perf_wide.c: replaces events of threads by events of CPUs. */
bool perf_go_wide(struct perf_sampler *p, const char *why);
/* What is done about threads that end before their first sample. */
void perf_handle_crowd(struct perf_sampler *p);

/* perf_switching.c */
void perf_count_switches(struct perf_sampler *p, uint64_t now);

/* perf_newborn.c: what is done instead, if CPUs may not be sampled. */
void perf_stop_inheriting(struct perf_sampler *p);
void perf_adopt_newborns(struct perf_sampler *p, uint64_t now);

/* perf_report.c: from records to the sink. */
void perf_deliver(void *ctx, const struct record *r);
struct thread *perf_thread(struct perf_sampler *p, int tid);
/* Whether threads of the process are reported. */
bool perf_is_watched(const struct perf_sampler *p, int pid);
/* Reports a thread to the sink, once. `born` is when it was started, 0 if that is not known. */
void perf_report_start(struct perf_sampler *p, int pid, int tid, uint64_t born);
void perf_report_end(struct perf_sampler *p, struct thread *t);
/* Reports the end of all threads of a process that were not reported as ended yet. */
void perf_report_ends(struct perf_sampler *p, int pid);
/* Samples the threads that wait. Everything before `now` must have been delivered. */
void perf_report_waiting(struct perf_sampler *p, uint64_t now);
