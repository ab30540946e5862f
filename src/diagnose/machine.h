/* Processes and threads under study: what they do from one step to the next, and which of them
 * count.
 *
 * A thread that waits for requests, input or signals is idle for that time, whatever others do: it
 * does not count. A thread that only waits for work, while others have work, is idle: neither its
 * waiting nor its time counts. Waiting for a thread or process to end never counts: what that
 * thread or process does explains the time. If all threads are idle, all of them count.
 *
 * Short-lived threads are not tracked one by one, except the first few, nor are more than some that
 * never run: each process has a pseudo thread, its pool, that represents them. Short-lived
 * processes are not tracked either, because a script starts thousands of them: a process is young
 * first, and all young processes are one pseudo process, of which only samples are known. */
#pragma once
#include "diagnose/ledger.h"
#include "search/object.h"

struct target;

enum { THREAD_NONE = UINT32_MAX };

struct machine_thread {
	int tid; /* 0: the pool */
	uint32_t process;
	uint32_t part; /* resource of MACHINE: its own; of a pool, that of its process */
	char name[16];
	bool gone, counted;
	bool serves;  /* it has waited for work that others bring */
	bool in_team; /* a runtime (OpenMP) has started it, and gives it work */
	bool shares;  /* its work may go on in any of several threads: a runtime (Go) divides it */
	uint64_t cpu_ns, ready_ns;
	/* s in this step: */
	double cpu;               /* on a CPU */
	double worked;            /* of that, without spinning */
	double ready;             /* ready to run, while other threads had the CPUs */
	double stolen;            /* ready to run, while other virtual machines had the CPUs */
	double waited;            /* waiting */
	double joined;            /* of `waited`: for a thread or process to end */
	double idled[IDLENESSES]; /* of `waited`: by enum idleness of the object */
	/* s in the last whole period, and in the current one: */
	double passed[2];   /* elapsed time */
	double rested[2];   /* waiting for work, or for a thread or process to end */
	double unneeded[2]; /* of `rested`: with nothing to do, whichever process has work */
	double asked[2];    /* waiting for answers */
	double spun;        /* s of spinning that `worked` does not leave out yet */
	double cpu_all;     /* s of CPU time in all */
	double born;        /* s: when it was first seen */
	double idle;        /* s for which it did not count, less those for which it did */
	/* s in the last second or so: ready to run; in calls that may block, in samples. */
	double was_ready, in_calls;
	uint64_t waits, turns; /* how often it has waited, and had a CPU, when that was last read */
	double woken;          /* the share of its ready time in which a wait had just ended */
	double ran, seen;      /* s of CPU time in the last second or so: in all; in samples */
	/* s of waiting in samples of the last second or so: by enum idleness; for a thread or
	 * process to end. */
	double slept[IDLENESSES], slept_joining;
};

struct machine_process {
	int pid;               /* 0: the short-lived ones */
	struct target *target; /* NULL: it is not probed now */
	bool gone;             /* it has ended, or executes another program */
	bool unprobed;         /* it cannot be probed */
	bool studied;          /* what probing needs to know of its modules is known */
	bool awaited;          /* it is to be probed when that is so */
	bool watched;          /* probes measure its waits */
	bool stale;            /* it has mapped code since its modules were read */
	bool executed;         /* the engine has reported that it executes its program */
	bool newborn;          /* it has tracked threads that were born since it was last stopped */
	uint32_t begun;        /* how often it became a target */
	double forks;          /* processes that it has started in the last second or so */
	/* s in samples of its threads lately: running; blocked, in threads that also run; blocked
	 * in others. */
	double ran, blocked, asleep;
	double probed;     /* s: when it last had probes */
	double watch_ends; /* s: until when its waits are measured; 0: they were not yet */
	double counted;    /* s for which they were */
	double refreshed;  /* s: when its modules were last read */
	double looked;     /* s: when it was last stopped for its new threads */
	uint32_t part;
	uint32_t program; /* hash of the path of what it executes */
	uint32_t pool;    /* thread */
	uint32_t pooled;  /* number of live threads that the pool represents */
	const char *name;
	uint64_t cpu_ns;
	double born; /* s: when it was first seen */
	/* s in this step, of all its threads: */
	double cpu;     /* on CPUs */
	double worked;  /* of that, without spinning */
	double ready;   /* ready to run, including stolen time */
	double free;    /* outside of waits; tracked threads only */
	double threads; /* elapsed time of the threads that count */
	double active;  /* of that, when they had something to do */
	double most;    /* on a CPU, of its busiest thread */
	double idle;    /* nothing was done, because nobody brought work */
	bool works;     /* one of its threads is not idle */
	bool serves;    /* one of its threads has waited for work that others bring */
};

/* The bases of shares. Time in which other programs had the CPUs is left out: a busy machine makes
 * a program slower, but does not change what it does. So is time in which a server has no
 * requests. */
struct machine_span {
	double time;    /* s of elapsed time */
	double cpu;     /* s of elapsed time, or of CPU time without spinning where that is more */
	double threads; /* s of elapsed time of the threads that count */
	/* s by which the recent CPU time of the busiest thread, and of all threads, exceeds the
	 * elapsed time. Never positive: see at_least(). */
	double time_ahead, cpu_ahead;
	double missing; /* s of threads that neither ran nor waited, for reasons not known yet */
};

/* A process that may end soon. */
struct young_process {
	int pid;
	struct target *target; /* NULL: it is not traced */
	double born;           /* s */
	double forks;          /* processes that it has started */
};

struct machine {
	struct resources *resources;
	struct ledger *ledger;
	uint32_t host;  /* part */
	uint32_t brief; /* the process that represents the short-lived ones; UINT32_MAX: none yet */
	double brief_cpu; /* s by samples of these since the last step */
	VEC(struct young_process) young;
	struct hashmap young_at; /* pid -> young */
	VEC(struct machine_process) processes;
	VEC(struct machine_thread) threads;
	VEC(uint32_t) live_threads;   /* threads that are not gone, pools included */
	VEC(uint32_t) live_processes; /* processes that are not gone */
	struct hashmap thread_at;     /* tid -> live thread */
	struct hashmap process_at;    /* pid -> live process */
	struct hashmap seen;          /* tid -> ms when it was first seen */
	struct hashmap busy; /* tids that samples have shown running, without being tracked */
	uint32_t at_once;    /* number of threads that can still be tracked without a warm-up */
	VEC(struct machine_span) spans; /* by resource of MACHINE */
	VEC(uint32_t) news;             /* parts that are new: the search does not know them yet */
	double time, before, looked;    /* s: this step, the last one, the last look for threads */
	double cpu_all, ready_all;      /* s of all threads since the beginning */
	double idle_all; /* s since the beginning in which nothing was done: see step_times */
	bool sampled;    /* waits are measured by samples, not by probes */
	/* Threads had to wait for CPUs in the last second or so. */
	bool crowded;
	double ran, queued; /* s on CPUs, and ready for one: older time counts less */
	double seen_cpu;    /* s on CPUs in samples: the same */
	uint64_t stolen_ns;
	double stolen; /* s that other virtual machines had our CPUs, not yet given to threads */
	struct arena *arena;
};

void machine_init(struct machine *m, struct resources *r, struct ledger *l, struct arena *a);
void machine_release(struct machine *m);

/* The target may be NULL, here and in machine_add_young(). */
uint32_t machine_add_process(struct machine *m, int pid, struct target *t);
/* The live process with this pid; UINT32_MAX if there is none, or if it is young. */
uint32_t machine_process_of(const struct machine *m, int pid);
void machine_end_process(struct machine *m, uint32_t process);

void machine_add_young(struct machine *m, int pid, struct target *t);
/* A process, which may be young, has started another one. */
void machine_note_fork(struct machine *m, int parent);
bool machine_is_young(const struct machine *m, int pid);
/* Forgets a young process; false if there is none with this pid. *t is its target. */
bool machine_end_young(struct machine *m, int pid, struct target **t);
/* Takes out a young process that has lived for `seconds`; false if there is none. */
bool machine_take_grown(struct machine *m, double seconds, struct young_process *out);
/* Whether any process is left, young ones included. */
bool machine_lives(const struct machine *m);
/* The process that represents the short-lived ones. */
uint32_t machine_brief(struct machine *m);
/* The thread, or the pool of its process if it is not tracked. */
uint32_t machine_thread_of(const struct machine *m, uint32_t process, int tid);

/* A step begins with CPU times from the kernel. Then waits_step() adds what threads waited for, and
 * machine_end_step() what follows from both. `now` is in s. */
void machine_begin_step(struct machine *m, double now);
void machine_end_step(struct machine *m);

/* Returns how many seconds outside of waits a second of a thread's CPU time represents, in the last
 * step: more than one if other threads or virtual machines had the CPUs. */
double machine_stretch(const struct machine_thread *t);
/* The same for a second in which a sample has shown it in a call that may block: after a wait, it
 * is still in the call until it gets a CPU. machine_seen_in_call() notes such samples. */
double machine_wait_stretch(const struct machine_thread *t);
void machine_seen_in_call(struct machine *m, uint32_t thread, double seconds);
/* Notes that a thread waits, as a sample shows that represents `seconds`. `row` is the kind of
 * object that it waits for. For processes whose waits are not measured by probes. */
struct object_kind_row;
void machine_slept(struct machine *m, uint32_t thread, const struct object_kind_row *row,
		   double seconds);
/* Notes a sample of the running thread `tid`, which represents `seconds`; `thread` is the thread,
 * or the pool that represents it. Returns how many seconds it represents together with samples that
 * were lost: while the CPUs of a virtual machine are stolen, there are no timer ticks. */
double machine_seen(struct machine *m, uint32_t thread, int tid, double seconds);
struct machine_span machine_span(const struct machine *m, uint32_t part);
/* True if a thread belongs to a part of the machine. */
bool machine_has(const struct machine *m, uint32_t part, uint32_t thread);
