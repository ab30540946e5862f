/* The search history graph: all experiments, and which was refined to which.
 *
 * H1  There is only one experiment of a hypothesis and a focus.
 * H2  The graph has no cycles: a refinement to an ancestor, which a recursion would lead to, is not
 *     recorded. So every path has a deepest true experiment.
 * H3  An experiment knows how many of its refinements along each hierarchy are undecided, and true.
 * H4  Parents and children know each other. */
#pragma once
#include "search/count_graph.h"
#include "search/decide.h"

/* The state of an experiment that only the search itself needs. */
struct trial {
	struct test test;     /* observations of the current test, and since it was decided */
	struct recent recent; /* observations of the last seconds */
	struct reading last;
	double since;           /* s: when measuring began */
	double tested;          /* s that the current test has measured */
	double overhead;        /* of its probes, present or former: share of time */
	double former_overhead; /* s: overhead of probes that were removed */
	double not_before; /* s: it lost its probes to the overhead limit, and waits until then */
	double sampled_at; /* samples per second in its code when it was decided */
	uint32_t lost;     /* how often it lost its probes to the limit */
	uint8_t refined;   /* a bit for each hierarchy along which it was refined */
	bool expected;     /* samples suggest that it is true */
	bool by_samples;   /* samples contradict it, and are used instead of probes */
	bool held;         /* not refined, because it does the same as the whole: refine.c */
	uint32_t undecided[HIERARCHIES], true_ones[HIERARCHIES], all[HIERARCHIES];
	uint32_t next[HIERARCHIES]; /* next experiment of the same part */
	uint32_t seen;              /* number of the last walk to ancestors that visited it */
};

struct by_part {
	uint32_t first, last; /* experiments */
};

struct history {
	VEC(struct experiment) list;
	VEC(struct trial) trials;
	VEC(struct by_part) by_part; /* of each resource */
	VEC(uint32_t) walk;          /* scratch */
	struct hashmap index;        /* hash of hypothesis and focus -> experiment */
	uint32_t walks;
	uint32_t undecided; /* experiments that are ready or active */
	/* True experiments whose refinements along a hierarchy have all become false. */
	VEC(uint32_t) exhausted;
};

void history_release(struct history *h);
/* Returns the experiment of this hypothesis at this focus, or EXPERIMENT_NONE. */
uint32_t history_find(const struct history *h, uint8_t hypothesis, const struct focus *f);
/* There must be no experiment of its hypothesis at its focus yet. */
uint32_t history_add(struct history *h, const struct experiment *e);
/* Makes `child` a refinement of `parent`, unless it is one already, or an ancestor of `parent`. */
void history_link(struct history *h, uint32_t parent, uint32_t child);
void history_set(struct history *h, uint32_t experiment, enum experiment_state state);
/* In debug builds: aborts if H1 to H4 do not hold. */
void history_check(struct history *h);
/* Returns the first experiment of a part; trial.next[] leads to the next. */
uint32_t history_first(const struct history *h, uint32_t resource);
