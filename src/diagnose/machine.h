/* Processes and threads under study: what they do, from one step to the next, and whose waiting
 * counts.
 *
 * A thread that does nothing but wait for work while others have some is idle: neither its waiting
 * nor its time counts. Waiting for a thread or process to end never does: what that one does
 * explains the time. If nobody does anything, everybody counts.
 *
 * Threads that live shortly are not told apart, but for the first few: each process has one thread,
 * its pool, that stands for all of them. Nor are processes: a script starts thousands. */
#pragma once
#include "diagnose/ledger.h"
#include "search/resource.h"

struct target;

enum { THREAD_NONE = UINT32_MAX };

struct machine_thread {
	int tid; /* 0: the pool */
	uint32_t process;
	uint32_t part; /* resource of MACHINE: its own, or the pool's process */
	char name[16];
	bool gone, counted;
	uint64_t cpu_ns, ready_ns;
	/* Of this step, s: on a processor; ready, but other threads had the processors, or other
	 * machines; waiting; of that, for an end, and by enum idleness. */
	double cpu, ready, stolen, waited, joined, idled[3];
	/* Of the last whole period and the present one: time passed; waited for work, or for an
	 * end; of that, with nothing to do whoever else has something. */
	double passed[2], rested[2], unneeded[2];
	double cpu_all, born; /* s; born: when it was seen first */
	double idle;          /* s for which it did not count, less those for which it did */
	double ran, seen;     /* s on a processor in the last second or so; that samples told of */
};

struct machine_process {
	struct target *target; /* NULL: it is gone */
	int pid;
	uint32_t part;
	uint32_t program; /* hash of the path of what it executes */
	uint32_t pool;    /* thread */
	uint32_t pooled;  /* threads alive that have none of their own */
	const char *name;
	bool young; /* it has not lived long enough to be looked into: what waits is not known */
	uint64_t cpu_ns;
	double born;
	/* This step: s on processors; ready for one; of threads outside of waits; of threads that
	 * count; on a processor, of one of them. */
	double cpu, ready, free, threads, most;
	bool works; /* some thread of it does */
};

/* Time for shares to be of. Time in which others had the processors, who are none of
 * the program's business, is left out: a busy machine makes a program slow, but not different. */
struct machine_span {
	double time;    /* s that passed */
	double cpu;     /* the same, or s on processors where that was more */
	double threads; /* s of threads that count */
	/* s that one thread, or all, used more than time passed, of late; negative: less. */
	double time_ahead, cpu_ahead;
	double missing; /* s of threads that neither ran nor waited, and of which is not known why
			 */
};

struct machine {
	struct resources *resources;
	struct ledger *ledger;
	uint32_t host;  /* part */
	uint32_t brief; /* part of all young processes; RESOURCE_NONE: there was none yet */
	VEC(struct machine_process) processes;
	VEC(struct machine_thread) threads;
	VEC(uint32_t) live_threads;     /* threads that are not gone, pools included */
	VEC(uint32_t) live_processes;   /* processes that are not gone */
	struct hashmap thread_at;       /* tid -> thread; of the living */
	struct hashmap seen;            /* tid -> ms when it was first seen */
	uint32_t at_once;               /* so many more threads need not grow up */
	VEC(struct machine_span) spans; /* by resource of MACHINE */
	VEC(uint32_t) news;             /* parts that are new: the search does not know them yet */
	double time, before, looked;    /* s: now, at the last step, at the last look for threads */
	double cpu_all, ready_all;      /* s of all threads since the beginning */
	/* Threads have to wait for processors, as of the last second or so. */
	bool crowded;
	double ran, queued; /* s, of that: the older the less */
	uint64_t stolen_ns;
	double stolen; /* s that other machines had our processors, and no thread has missed yet */
	struct arena *arena;
};

void machine_init(struct machine *m, struct resources *r, struct ledger *l, struct arena *a);
void machine_release(struct machine *m);

/* A young process has not lived long enough to be looked into: it has no part of its own until it
 * grows up. */
uint32_t machine_add_process(struct machine *m, struct target *t, bool young);
void machine_grow_up(struct machine *m, uint32_t process);
/* The process of a target; UINT32_MAX if there is none. */
uint32_t machine_process_of(const struct machine *m, const struct target *t);
uint32_t machine_process_of_pid(const struct machine *m, int pid);
void machine_end_process(struct machine *m, uint32_t process);
/* Its own, or the pool of its process. */
uint32_t machine_thread_of(const struct machine *m, uint32_t process, int tid);

/* A step: what the kernel tells of processors; then, by waits.h, what threads waited for; then what
 * follows from both. `now` in s. */
void machine_begin_step(struct machine *m, double now);
void machine_end_step(struct machine *m);

/* What a second on a processor stands for of a thread's time outside of waits, as of the last step:
 * more where others have the processors. */
double machine_stretch(const struct machine_thread *t);
/* A sample of a thread on a processor stands for some seconds: returns for how many, if others were
 * lost. Where a virtual machine's processors are stolen, so are the timer's ticks. */
double machine_seen(struct machine *m, uint32_t thread, double seconds);
struct machine_span machine_span(const struct machine *m, uint32_t part);
/* Whether a thread is in a part. */
bool machine_has(const struct machine *m, uint32_t part, uint32_t thread);
