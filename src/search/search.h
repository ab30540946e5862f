/* The automated search for bottlenecks: experiments test hypotheses on parts of a program, true
 * ones are refined to smaller parts, false ones end there.
 *
 * It follows the Performance Consultant in the form of P. C. Roth and B. P. Miller, "Deep Start: a
 * hybrid strategy for automated performance problem searches" (2002), and, with loops as nodes of
 * the call graph, E. D. Collins and B. P. Miller, "A loop-aware search strategy for automated
 * performance analysis" (2005). It knows no processes and no clock: its caller passes the time and
 * the samples, and implements program_ops. The same input gives the same search.
 *
 *	search_new()
 *	search_sample(), search_part()   what was seen
 *	search_turn()                    repeatedly: reads, decides, refines, begins, ends
 *	search_free()
 */
#pragma once
#include "search/program.h"

struct search_options {
	bool deep_start;       /* false: along the call graph only */
	double deep_threshold; /* minimum share of samples for a deep starter (0.4) */
	double priming;        /* s for which samples are collected before code is examined */
	double max_overhead;   /* limit: share of the program's time; 0: none */
	uint32_t most_active;  /* maximum number of undecided experiments with probes at a time */
	double threshold[HYPOTHESES];
};
extern const struct search_options search_defaults;

enum experiment_state {
	EXPERIMENT_READY,  /* waits for its turn */
	EXPERIMENT_ACTIVE, /* is being measured, and not decided yet */
	EXPERIMENT_TRUE,
	EXPERIMENT_FALSE,
	EXPERIMENT_UNKNOWN, /* ended before it was decided, or never had its turn */
};

enum experiment_origin {
	ORIGIN_ROOT,
	ORIGIN_REFINED,    /* from a true experiment */
	ORIGIN_STARTER,    /* a deep starter */
	ORIGIN_CONNECTING, /* leads from an existing experiment to a deep starter */
};

enum priority { PRIORITY_NORMAL, PRIORITY_HIGH };

/* An experiment may be decided and still be measured: true ones stay watched. */
struct experiment {
	uint8_t hypothesis, state, origin, priority;
	uint8_t axis; /* enum hierarchy along which it was refined; HIERARCHIES for a root */
	struct focus focus;
	bool measured; /* at present */
	bool sampled;  /* its value is from samples */
	bool unsure; /* the mean decided when time was up, or by now it contradicts the decision */
	bool over;   /* it was true and no longer is: the program does something else now */
	double value, threshold;
	double confidence;              /* 0 .. 1: that the decision is right */
	double created, begun, decided; /* s; negative: not yet */
	double observed;                /* s that it was measured */
	double overhead;                /* s of the program's time that its probes took */
	uint32_t tests; /* how often it was decided: it is tested again in another phase */
	uint32_t hook;  /* the experiment at which its path began to look at code, or none */
	VEC(uint32_t) parents, children;
};

enum { EXPERIMENT_NONE = UINT32_MAX };

struct search;

struct search *search_new(const struct search_options *o, const struct program_ops *ops, void *ctx);
void search_free(struct search *s);

/* The parts of the program; the implementation of program_ops adds to them. */
struct resources *search_resources(struct search *s);

/* A call stack of a thread. `chain` is its code from the root to the innermost part: functions,
 * each followed by the loops that the stack is in. Parts that the search should not know are left
 * out. */
struct stack_sample {
	uint8_t class;         /* enum sample_class */
	uint32_t thread;       /* resource of MACHINE */
	const uint32_t *chain; /* resources of CODE */
	uint32_t length;
	double weight; /* 1, or more if it represents several */
};
void search_sample(struct search *s, const struct stack_sample *x);

/* Reports a new part, which program_ops.parts() now adds for `whole` and did not add before: a
 * thread, an object, the target of an indirect call. True experiments of `whole` are refined to it.
 * If new parts of a hierarchy appear too fast, they are ignored for a while; search_ignored()
 * counts them. */
void search_part(struct search *s, enum hierarchy h, uint32_t whole, uint32_t part);
uint64_t search_ignored(const struct search *s, enum hierarchy h);

void search_turn(struct search *s, double now);
/* True if nothing is left to test while the program behaves as it does now. */
bool search_settled(const struct search *s);
/* Reads all experiments a last time and ends them; undecided ones become unknown. */
void search_finish(struct search *s, double now);

uint32_t search_count(const struct search *s);
const struct experiment *search_get(const struct search *s, uint32_t experiment);
