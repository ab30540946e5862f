/* Call stacks that lack their outermost callers are kept for a moment (SPLICE_MAX_NS): one of the
 * next stacks of their thread may have the missing callers (see splice.h). */
#pragma once
#include "callpath/splice.h"

enum { UNFINISHED_MAX = 512 };

struct unfinished_path {
	struct sample sample; /* without its stack and return addresses */
	uint64_t space;       /* its serial number */
	struct walk walk;
};

struct unfinished {
	struct unfinished_path all[UNFINISHED_MAX]; /* a ring, in order of time from `first` on */
	uint32_t first, count;
	void (*give)(void *ctx, const struct sample *s, const struct walk *w);
	void *ctx;
};

void unfinished_release(struct unfinished *u);

/* Keeps a stack whose walk ended at the end of its copy. Passes stacks that were kept for too long
 * to give(). */
void unfinished_keep(struct unfinished *u, const struct sample *s, const struct space *space,
		     const struct walk *w);
/* Completes kept stacks of the thread by a whole one and passes them to give(), and also those that
 * were kept for too long. */
void unfinished_finish(struct unfinished *u, const struct sample *s, const struct space *space,
		       const struct walk *whole);
/* Passes all kept stacks to give(), incomplete as they are. */
void unfinished_give_up(struct unfinished *u);
