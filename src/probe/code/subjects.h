/* What is to be measured in a target. Changes take effect with the next target_commit(). */
#pragma once
#include "base/err.h"
#include "patch/fragment.h"
#include "probe/region/values.h"

/* What to measure: a function, or a loop of it. */
struct subject_request {
	struct code *code;
	uint64_t va;      /* start of the function */
	uint64_t loop;    /* va of the loop's header; 0: the function itself */
	uint64_t bias;    /* of the module: run-time address - va */
	uint32_t metrics; /* set of 1 << enum rt_metric */
	bool path;
	bool iterations; /* of a loop: count its iterations as well */
	bool counters;   /* no activations, but a plain counter for each point (counts only) */
	bool call_sites; /* of a function, and nothing else: its calls and their targets */
	/* The number of activations that may begin. After the last one, the subject is quiet, as if
	 * target_quiet() had been called. 0: no limit. */
	uint32_t budget;
};

/* The result of a batch. */
struct batch_result {
	uint32_t spots, refused[REFUSAL_REASONS]; /* spots requested, and refused ones by reason */
	uint32_t patches;
	uint32_t displaced, relocated, traps; /* functions by mechanism; any trap counts as traps */
	uint64_t pause_ns;                    /* how long the program was stopped */
	uint32_t adopted;                     /* running activations found on stacks */
};

/* Adds a subject to the next batch; SUBJECT_NONE and a sentence if it cannot be probed. */
uint32_t target_add(struct target *t, const struct subject_request *r, struct err *e);
/* Takes a subject out with the next batch. Its values stay readable. */
void target_remove(struct target *t, uint32_t subject);
/* The same. In addition, no activation begins from now on, without stopping the program: the probes
 * do next to nothing until they are out. Running activations end as usual. */
void target_quiet(struct target *t, uint32_t subject);
/* Whether the subject's budget is spent; sets a new budget, unless it is spent. */
bool target_spent(const struct target *t, uint32_t subject);
void target_set_budget(struct target *t, uint32_t subject, uint32_t budget);
/* Why a subject was not put in by the last commit; REFUSED_NONE if it was. */
enum refusal target_refused(const struct target *t, uint32_t subject);

/* From the next commit on, target_waits() reports waits: in this target, and in children that it
 * forks from then on. It also does in programs that the target executes, after the first commit to
 * those, and in modules that it loads, after the first commit then. */
void target_watch_waits(struct target *t, bool on);
/* From the next commit on, waits are not reported for the function with a system call at `pc`:
 * there are so many that watching them would have too much overhead. */
void target_ignore_waits(struct target *t, uint64_t pc);

/* Plain counters of a subject's points, summed over threads, by enum point_kind. */
void target_counters(struct target *t, uint32_t subject, uint64_t out[POINT_KINDS]);
/* The calls of a subject with call_sites so far. */
void target_calls(struct target *t, uint32_t subject, call_visitor visit, void *ctx);
