/* Paths that lack their outermost callers wait for a moment: one of the next paths of their thread
 * may have them (see splice.h). */
#pragma once
#include "callpath/splice.h"

enum { UNFINISHED_MAX = 512 };

struct unfinished_path {
	struct sample sample; /* what it points to is gone */
	uint64_t space;       /* serial */
	struct walk walk;
};

struct unfinished {
	struct unfinished_path all[UNFINISHED_MAX]; /* a ring: from `first` on, in order of time */
	uint32_t first, count;
	void (*give)(void *ctx, const struct sample *s, const struct walk *w);
	void *ctx;
};

void unfinished_release(struct unfinished *u);

/* Takes a path that ended for lack of memory; gives out those that have waited too long. */
void unfinished_keep(struct unfinished *u, const struct sample *s, const struct space *space,
		     const struct walk *w);
/* Gives out what a whole path of the thread finishes, and what has waited too long. */
void unfinished_finish(struct unfinished *u, const struct sample *s, const struct space *space,
		       const struct walk *whole);
/* Gives out all that waits. */
void unfinished_give_up(struct unfinished *u);
