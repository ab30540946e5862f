/* Data and functions that the files of this folder share.
 *
 *	session.c      a diagnosis from beginning to end
 *	processes.c    processes come and go, and some of them are probed
 *	step.c         one step, twenty times per second: reads all that is measured
 *	experiments.c  the operations that the search calls: parts, values, overhead
 *	code.c         functions and loops, the call graph
 *	relay.c        functions that make system calls for their callers
 *	plumbing.c     library code that all waits go through
 *	machine.c      processes and threads, and which of them count
 *	commands.c     what processes execute, and how many work at a time
 *	awaited.c      what a system call waits for, by its descriptors
 *	objects.c      the objects that threads wait for
 *	object_names.c ... and their names
 *	wait_kinds.c   which kind of object a function or system call waits for
 *	waits.c        how long they wait, as the runtime measures it
 *	condition.c    the layout of glibc's condition variables
 *	ignored.c      system calls that are too frequent to be watched
 *	mapped.c       where modules are mapped
 *	probes.c       the parts that are measured by probes, and the overhead of these
 *	trips.c        trip counts of loops
 *	samples.c      call stacks
 *	allocation.c   which function of an allocator is on a stack
 *	ledger.c       sums of all that was measured
 *	imbalance.c    threads and processes that do more than others
 *	overhead.c     how much longer the program takes than alone
 *	names.c        names of parts, by source lines
 *	rows.c         parts as rows of the profile
 *	history.c      writes the search into the profile
 *	evidence.c     writes what findings are made from (findings/findings.h) */
#pragma once
#include "diagnose/names.h"
#include "diagnose/overhead.h"
#include "diagnose/probes.h"
#include "diagnose/samples.h"
#include "diagnose/session.h"
#include "diagnose/trips.h"
#include "session/starting.h"

struct thread_amount {
	uint32_t thread;
	double cpu[2]; /* by probes, by samples */
};

/* An experiment that is being measured, with its amounts when it began. */
struct live_experiment {
	uint8_t hypothesis;
	bool active;
	bool new;        /* begins with the next commit */
	bool by_samples; /* it is measured by samples on purpose */
	bool probed;     /* it has asked for probes */
	bool sampled;    /* probes were missing for a while, so samples are used for all of it */
	struct focus focus;
	double amount[2];                 /* by probes, by samples */
	double base;                      /* what the amount is a share of */
	VEC(struct thread_amount) before; /* MEASURE_IMBALANCE: amounts of each thread */
};

struct diagnose_private {
	struct search *search;
	struct code_parts *code;
	struct ledger ledger;
	struct machine machine;
	struct commands commands;
	struct mapped mapped;
	struct waits waits;
	struct probes probes;
	struct trips trips;
	struct samples samples;
	struct starting starting;
	VEC(int) family; /* processes that are attached to, the first one before its descendants */
	struct overhead overhead;
	struct sink sink;
	struct arena arena;
	struct finding_names *names;      /* for diagnose_strongest(); NULL: not needed yet */
	struct arena lines;               /* of diagnose_strongest() */
	VEC(struct live_experiment) live; /* by experiment */
	VEC(uint32_t) beginning;          /* experiments that begin with the next commit */
	double created;                   /* s: when Sonde began to prepare */
	double before;                    /* s that this took, until the program was let go */
	double opened;     /* s: when the program was opened; times count from then */
	double next_step;  /* s */
	uint32_t varied;   /* makes turns differ in length */
	uint32_t unprobed; /* processes that were found not to be probed */
	double settled;    /* s: when the search settled; negative: it has not */
	uint32_t saved;    /* number of experiments and decisions in the profile */
};

extern const struct program_ops diagnose_ops; /* ctx is the struct diagnosis */

/* step.c: reads everything now. */
void diagnose_step(struct diagnosis *d);

/* Entries per second: code that is entered more often than this is entered often. */
static const double often_begun = 50000;
/* experiments.c: returns how often per second an experiment's code was entered while it was
 * measured; 0 if it was not measured. */
double begun_per_second(const struct diagnosis *d, const struct experiment *e);
/* True if a ledger entry belongs to the focus, in the hierarchies that matter to the measure. */
bool focus_has(const struct diagnosis *d, const struct focus *f, enum measure m,
	       const struct ledger_entry *e);

/* processes.c */
extern const struct probing_ops process_events;
/* Handles what the sampler has reported about processes. */
void processes_handle_news(struct diagnosis *d);
/* After each step: young processes grow up, and mapped code is noted. */
void processes_step(struct diagnosis *d);
/* Measures waits where waiting was found, for a while. */
void processes_watch(struct diagnosis *d);
/* Lets processes alone that have no probes. */
void processes_rest(struct diagnosis *d);
/* Makes the process a target, so that it can be probed. ctx is the struct diagnosis. */
enum reach process_begin(void *ctx, uint32_t process);
/* Adds a process that is not young. The target may be NULL. */
void process_add(struct diagnosis *d, int pid, struct target *t);
/* Without perf: notes what the process executes, since now or since before the search. */
void process_note_program(struct diagnosis *d, int pid, bool executed);
/* From now on, the code of a target and what it waits for are examined. */
void process_examine(struct diagnosis *d, uint32_t process);
/* The map from run-time addresses to code. */
struct space *process_space(struct diagnosis *d, uint32_t process);

/* imbalance.c */
/* Returns how much more CPU time (s) the busiest member of a group has used since x->before than
 * its members on average. A group is threads, or processes, with the same work; the result is that
 * of the group with the largest difference. */
double imbalance_loss(const struct diagnosis *d, const struct live_experiment *x);
void imbalance_begin(const struct diagnosis *d, struct live_experiment *x);

/* history.c */
/* Writes the search and the evidence again. `names` are those by source lines, for the last time;
 * NULL while the search runs. */
void history_write(struct diagnosis *d, struct finding_names *names);
/* Names by source lines for all that history_write() will write; the caller frees them. */
struct finding_names *history_names(const struct diagnosis *d);
