/* A diagnosis from the inside: what the files of this folder share.
 *
 *	session.c      begins, goes on and ends; what happens to the program
 *	step.c         everything is read, twenty times a second
 *	experiments.c  what the search asks for: parts, values, cost
 *	code.c         procedures and loops, the call graph
 *	machine.c      processes and threads, whose waiting counts
 *	waits.c        what they wait for; ignored.c where there is too much of it
 *	mapped.c       which images are where
 *	probes.c       what is measured, and what that costs
 *	trips.c        how many iterations loops have
 *	samples.c      stacks as they are seen
 *	ledger.c       all that was measured
 *	imbalance.c    who does more than others
 *	names.c        what parts are called, in source lines
 *	history.c      the search into the profile; rows.c the parts that it is about
 *	evidence.c     what findings are made of into the profile: findings/findings.h */
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

/* An experiment that is being measured: what it had when it began. */
struct live_experiment {
	uint8_t hypothesis;
	bool active;
	bool new;        /* begins with the next commit */
	bool by_samples; /* it has no probes, and wants none */
	bool sampled; /* probes were not to be had for a while: samples tell, from the beginning on
		       */
	struct focus focus;
	double amount[2], base;           /* by probes, by samples */
	VEC(struct thread_amount) before; /* MEASURE_IMBALANCE: of each thread */
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
	struct names
		*names; /* for lines while it runs, which are in `lines`; NULL: not needed yet */
	struct arena lines;
	VEC(struct live_experiment) live; /* by experiment */
	VEC(uint32_t) beginning;          /* experiments that begin with the next commit */
	double opened;                    /* s: when the program was there; times count from then */
	double next_step;                 /* s */
	double settled;                   /* s: since when; negative: it is not */
	uint32_t told;                    /* experiments and decisions that the profile has */
};

extern const struct program_ops diagnose_ops; /* ctx is the struct diagnosis */

/* step.c: reads all there is to read, now. */
void diagnose_step(struct diagnosis *d);

/* experiments.c: times that an experiment's part was begun a second, while it was measured; 0 if it
 * was not. So many are often. */
static const double often_begun = 50000;
double begun_per_second(const struct diagnosis *d, const struct experiment *e);
/* Whether what a ledger's entry is about is in the focus, as far as the measure
 * goes. */
bool focus_has(const struct diagnosis *d, const struct focus *f, enum measure m,
	       const struct ledger_entry *e);

/* imbalance.c */
/* s that the busiest thread, or process, of a group that does the same has computed more than the
 * average since `before`, the worst group's. */
double imbalance_loss(const struct diagnosis *d, const struct live_experiment *x);
void imbalance_begin(const struct diagnosis *d, struct live_experiment *x);

/* history.c */
/* Writes all of it anew, with the evidence; the last time, with the names of the source. */
void history_write(struct diagnosis *d, bool last);
