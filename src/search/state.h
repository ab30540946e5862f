/* What the files of the search share. A turn goes through them in this order:
 *
 *	observe.c    reads what is measured, decides
 *	refine.c     true ones lead to new experiments
 *	starters.c   samples lead to new experiments
 *	schedule.c   begins and ends measuring, within the limits
 */
#pragma once
#include "search/history.h"

struct new_parts {
	double since; /* the second in which they are counted began */
	uint32_t count;
	uint64_t ignored;
};

typedef VEC(uint32_t) experiment_list;

struct search {
	struct search_options options;
	const struct program_ops *ops;
	void *ctx;
	struct resources resources;
	struct count_graph graphs[SAMPLE_CLASSES];
	struct history history;
	double started, before, now; /* the first turn, the last one, this one */
	bool running;                /* there was a turn */

	experiment_list found_true;      /* to be refined */
	experiment_list unprimed;        /* to be refined to code, once priming is over */
	experiment_list held;            /* see refine.c */
	double released;                 /* when they were last looked at */
	experiment_list hooks, unchosen; /* all; those whose starters are to be chosen */
	double chosen;                   /* when starters of all hooks were */

	experiment_list measured; /* in the order of their beginning */
	VEC(uint64_t) ready;      /* a heap; see schedule.c */
	experiment_list free;     /* ready, and need no probes */
	experiment_list waiting;  /* ready, but not yet again */
	double shed;              /* some probes went; until then their cost is not known anew */
	bool changed;             /* something began or ended since the last commit */
	struct new_parts new_parts[HIERARCHIES];
};

static inline struct experiment *experiment_of(struct search *s, uint32_t number)
{
	return &s->history.list.data[number];
}

static inline struct trial *trial_of(struct search *s, uint32_t number)
{
	return &s->history.trials.data[number];
}

static inline bool is_root(const struct experiment *e)
{
	return e->origin == ORIGIN_ROOT;
}

/* Other foci are measured without probes in code. */
static inline bool needs_probes(const struct experiment *e)
{
	return e->focus.part[CODE] != CODE;
}

/* Reads all that is measured. */
void observe(struct search *s);

/* Makes new experiments of what was found true, or has become exhausted. */
void refine(struct search *s);
void refine_to(struct search *s, uint32_t experiment, enum hierarchy axis, uint32_t part);

/* Whether the samples of an experiment's part of the machine say more about code than is known of
 * the whole machine. */
bool starters_stand_out(struct search *s, uint32_t number);
/* Chooses deep starters of hooks that want it, and of all from time to time. */
void choose_starters(struct search *s);
/* Whether samples speak for an experiment; or against it, if nobody expects it to be true. */
bool is_likely(struct search *s, const struct experiment *e);
bool is_doubtful(struct search *s, uint32_t number);

/* A new experiment, ready to be tested. Its focus, hypothesis, axis, origin, priority and hook are
 * those of `like`. */
uint32_t schedule_new(struct search *s, const struct experiment *like);
/* A false one is tested again, unless that was so not long ago. */
void schedule_again(struct search *s, uint32_t experiment);
/* Gives it, and what it was refined to, high priority. */
void schedule_raise(struct search *s, uint32_t experiment);
/* Its place among those that are ready may have changed. */
void schedule_rank(struct search *s, uint32_t experiment);
/* Samples have not decided it as was expected of them: probes have to. */
void schedule_probes(struct search *s, uint32_t experiment);
void schedule_begin(struct search *s, uint32_t experiment);
void schedule_end(struct search *s, uint32_t experiment);
/* Ends and begins what the limits want. */
void schedule(struct search *s);
