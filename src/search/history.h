/* The search history graph: all experiments, and which was refined to which.
 *
 * H1  There is one experiment of a hypothesis and a focus.
 * H2  The graph has no cycles: a recursion that leads back to where it came from is not recorded,
 *     so there is a deepest true experiment of every path.
 * H3  An experiment knows of how many refinements along each hierarchy are undecided, and true.
 * H4  A refinement and what was refined know each other. */
#pragma once
#include "search/count_graph.h"
#include "search/decide.h"

/* What the search knows of an experiment and nobody else needs. */
struct trial {
	struct test test;     /* observations of the present test, and while it is watched */
	struct recent recent; /* those of the last seconds */
	struct reading last;
	double since;       /* its probes went in */
	double tested;      /* s: how long the present test measures */
	double cost;        /* share of time that its probes take, or took */
	double former_cost; /* s: of probes that are out */
	double not_before;  /* s: lost its probes to the cost limit */
	double sampled_at;  /* the rate of samples when it was decided */
	uint32_t lost;      /* so often it lost them */
	uint8_t refined;    /* bit for each hierarchy */
	bool expected;      /* to be true, after the samples */
	bool by_samples;    /* they speak against it, and are asked instead of probes */
	bool held;          /* stands for the same as its parent: see refine.c */
	uint32_t undecided[HIERARCHIES], true_ones[HIERARCHIES], all[HIERARCHIES];
	uint32_t next[HIERARCHIES]; /* experiment of the same part */
	uint32_t seen;              /* by the last walk to the ancestors */
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
	uint32_t undecided;      /* ready or active ones */
	VEC(uint32_t) exhausted; /* true ones, the last refinement of which was found false */
};

void history_release(struct history *h);
/* EXPERIMENT_NONE if there is none. */
uint32_t history_find(const struct history *h, uint8_t hypothesis, const struct focus *f);
/* The caller has made sure that there is none yet. */
uint32_t history_add(struct history *h, const struct experiment *e);
/* Makes `child` a refinement of `parent`, if it is none and no ancestor of it. */
void history_link(struct history *h, uint32_t parent, uint32_t child);
void history_set(struct history *h, uint32_t experiment, enum experiment_state state);
/* In debug builds: aborts if H1 to H4 do not hold. */
void history_check(struct history *h);
/* The first experiment of a part; trial.next[] leads on. */
uint32_t history_first(const struct history *h, uint32_t resource);
