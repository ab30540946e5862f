/* What the files of this folder share.
 *
 *	session.c      a diagnosis from its beginning to its end; what happens to the program
 *	step.c         reads everything, twenty times per second
 *	experiments.c  operations for the search: parts, values, overhead
 *	code.c         functions and loops, the call graph
 *	machine.c      processes and threads, and whose waiting counts
 *	waits.c        what threads wait for; ignored.c system calls too frequent to be watched
 *	mapped.c       where modules are mapped
 *	probes.c       what is measured by probes, and their overhead
 *	trips.c        trip counts of loops
 *	samples.c      call stacks
 *	ledger.c       sums of all that was measured
 *	imbalance.c    threads and processes that do more than others
 *	names.c        names of parts, by source lines
 *	history.c      writes the search into the profile; rows.c its parts
 *	evidence.c     writes what findings are made from: findings/findings.h */
#pragma once
#include "diagnose/names.h"
#include "diagnose/probes.h"
#include "diagnose/samples.h"
#include "diagnose/session.h"
#include "diagnose/trips.h"

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
	bool sampled; /* probes were missing for a while: samples are used, from the beginning on */
	struct focus focus;
	double amount[2], base;           /* by probes, by samples */
	VEC(struct thread_amount) before; /* MEASURE_IMBALANCE: amounts of each thread */
};

struct diagnose_private {
	struct search *search;
	struct code_parts *code;
	struct ledger ledger;
	struct machine machine;
	struct mapped mapped;
	struct waits waits;
	struct probes probes;
	struct trips trips;
	struct samples samples;
	struct sink sink;
	struct arena arena;
	struct finding_names *names;      /* for diagnose_strongest(); NULL: not needed yet */
	struct arena lines;               /* of diagnose_strongest() */
	VEC(struct live_experiment) live; /* by experiment */
	VEC(uint32_t) beginning;          /* experiments that begin with the next commit */
	double opened;    /* s: when the program was opened; times count from then */
	double next_step; /* s */
	double settled;   /* s: when the search settled; negative: it has not */
	uint32_t saved;   /* number of experiments and decisions in the profile */
};

extern const struct program_ops diagnose_ops; /* ctx is the struct diagnosis */

/* step.c: reads everything now. */
void diagnose_step(struct diagnosis *d);

/* experiments.c: how often per second an experiment's code was entered while it was measured; 0 if
 * it was not measured. From often_begun on, that is often. */
static const double often_begun = 50000;
double begun_per_second(const struct diagnosis *d, const struct experiment *e);
/* Whether a ledger entry belongs to the focus, in the hierarchies that matter to the measure. */
bool focus_has(const struct diagnosis *d, const struct focus *f, enum measure m,
	       const struct ledger_entry *e);

/* imbalance.c */
/* s of CPU time that the busiest thread, or process, of a group with the same work has used more
 * than the average since `before`; of the worst group. */
double imbalance_loss(const struct diagnosis *d, const struct live_experiment *x);
void imbalance_begin(const struct diagnosis *d, struct live_experiment *x);

/* history.c */
/* Writes the search and the evidence again; the last time, with names from the source. */
void history_write(struct diagnosis *d, bool last);
