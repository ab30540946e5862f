/* Data and functions that the files of the search share. A turn calls them in this order:
 *
 *	observe.c    reads the experiments that are measured, and decides them
 *	refine.c     makes new experiments from true ones
 *	starters.c   makes new experiments from samples (expect.c, deepest.c)
 *	schedule.c   begins and ends measuring, within the limits
 */
#pragma once
#include "search/history.h"

/* New parts of a hierarchy, to notice if they appear too fast. */
struct new_parts {
	double since; /* when the second began in which they are counted */
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
	double started, before, now; /* times of the first, the previous and the current turn */
	bool running;                /* there has been a turn */

	experiment_list found_true;      /* to be refined */
	experiment_list unprimed;        /* to be refined to code, once priming is over */
	experiment_list held;            /* not refined for the time being: see refine.c */
	double released;                 /* when held ones were last released */
	experiment_list hooks, unchosen; /* all hooks; those that need their starters chosen */
	double chosen;                   /* when starters were last chosen for all hooks */

	experiment_list measured; /* in the order in which they began */
	VEC(uint64_t) ready;      /* a heap; see schedule.c */
	experiment_list free;     /* ready, and need no probes */
	experiment_list waiting;  /* ready, but paused until trial.not_before */
	double shed;  /* probes were removed: until then, the measured overhead still has them */
	bool changed; /* something began or ended since the last commit */
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

/* Experiments on all of the code are measured without probes in it. */
static inline bool needs_probes(const struct search *s, const struct experiment *e)
{
	return e->focus.part[CODE] != CODE &&
	       (!s->ops->probes || s->ops->probes(s->ctx, (enum hypothesis_id)e->hypothesis));
}

/* Reads and decides all experiments that are being measured. */
void observe(struct search *s);

/* Refines experiments that were found true. Those with only false refinements along a hierarchy are
 * refined along their next one. */
void refine(struct search *s);
/* Refines an experiment to one part that is new. */
void refine_to(struct search *s, uint32_t experiment, enum hierarchy axis, uint32_t part);

/* True if the samples of an experiment's part of the machine have a deep starter that is untested
 * or false for the whole machine. */
bool starters_stand_out(struct search *s, uint32_t number);
/* Chooses deep starters for the hooks in `unchosen`, and once per second for all hooks. */
void choose_starters(struct search *s);
/* True if samples support an experiment. */
bool is_likely(struct search *s, const struct experiment *e);
/* True if samples contradict an experiment, and there is no other reason to expect it to be
 * true. */
bool is_doubtful(struct search *s, uint32_t number);

/* Adds an experiment that is ready to be tested, with the focus, hypothesis, axis, origin, priority
 * and hook of `like`. */
uint32_t schedule_new(struct search *s, const struct experiment *like);
/* Tests a false experiment again, unless it was decided not long ago. */
void schedule_again(struct search *s, uint32_t experiment);
/* Gives an experiment and its refinements high priority. */
void schedule_raise(struct search *s, uint32_t experiment);
/* Updates the place of a ready experiment in the queue after its rank has changed. */
void schedule_rank(struct search *s, uint32_t experiment);
/* Tests an experiment with probes that samples were expected to refute, but that seems to be
 * true. */
void schedule_probes(struct search *s, uint32_t experiment);
void schedule_begin(struct search *s, uint32_t experiment);
void schedule_end(struct search *s, uint32_t experiment);
/* Begins and ends experiments within the limits. */
void schedule(struct search *s);
