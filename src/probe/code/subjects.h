/* What is to be measured in a target: carried out by the next target_commit(). */
#pragma once
#include "base/err.h"
#include "patch/fragment.h"
#include "probe/region/values.h"

/* What to measure: a procedure, or a loop of it. */
struct subject_request {
	struct code *code;
	uint64_t va;      /* start of the procedure */
	uint64_t loop;    /* va of the loop's header; 0: the procedure itself */
	uint64_t bias;    /* where the image is: run-time address - va */
	uint32_t metrics; /* set of 1 << enum rt_metric */
	bool path;
	bool iterations; /* of a loop: count them as well */
	bool counters;   /* no activations: a plain counter for each point (counts only) */
	bool call_sites; /* of a procedure, and nothing else: its calls, and where they lead */
	/* So many may begin; then it is as after target_quiet(), even if nobody looks after it.
	 * 0: any number. */
	uint32_t budget;
};

/* What became of a batch. */
struct batch_result {
	uint32_t spots, refused[REFUSAL_REASONS]; /* spots asked for, and those refused by reason */
	uint32_t patches;
	uint32_t displaced, relocated, traps; /* procedures by mechanism; any trap counts */
	uint64_t pause_ns;                    /* how long the program was stopped */
	uint32_t caught_up;                   /* activations found on stacks */
};

/* Adds to the next batch; SUBJECT_NONE and a sentence if it cannot be probed. */
uint32_t target_add(struct target *t, const struct subject_request *r, struct err *e);
/* Takes out with the next batch. Its values stay readable. */
void target_remove(struct target *t, uint32_t subject);
/* The same; and at once, without stopping anything, it begins no more: its probes do next to
 * nothing until they are out. What is running of it ends as ever. */
void target_quiet(struct target *t, uint32_t subject);
/* Whether its budget is spent; and gives it another one, if it is not. */
bool target_spent(const struct target *t, uint32_t subject);
void target_set_budget(struct target *t, uint32_t subject, uint32_t budget);
/* Why a subject was not put in by the last commit; REFUSED_NONE if it was. */
enum refusal target_refused(const struct target *t, uint32_t subject);

/* From the next commit on, waits are told by target_waits(): in this target, in children that it
 * forks from then on, and, as soon as something is committed to that, in what it executes; in
 * images that it loads, as soon as something is committed then. */
void target_watch_waits(struct target *t);
/* From the next commit on, not those of the procedure with a system call at `pc`: there are so many
 * that watching them would cost too much. */
void target_ignore_waits(struct target *t, uint64_t pc);

/* Plain counters, summed over threads: of a subject's points by enum point_kind. */
void target_counters(struct target *t, uint32_t subject, uint64_t out[POINT_KINDS]);
/* Calls of a subject with call_sites so far. */
void target_calls(struct target *t, uint32_t subject, call_visitor visit, void *ctx);
