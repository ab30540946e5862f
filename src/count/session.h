/* Counts a program's executions exactly: every block, loop and call of the chosen modules, by
 * calling context (docs/COUNTING.md), from its first instruction on, or from now on.
 *
 *	count_new()
 *	session_start() ...   as in session/session.h
 *	count_free()
 */
#pragma once
#include "session/probing.h"

/* Work that takes long. */
enum count_work {
	COUNT_PREPARING, /* functions, before the program runs */
	COUNT_READING,   /* call paths, once it has ended */
};

struct count_options {
	struct session_options session;
	const char *modules; /* "main", "all", or patterns of names separated by commas */
	/* Reports how much of the work is done. A program that was started does not run during that
	 * time. `ctx` is the session's. */
	void (*progress)(void *ctx, enum count_work what, uint32_t done, uint32_t total);
};

struct count_session {
	struct session session;
	struct probing probing;
	const struct count_options *o;
	struct profile profile;
	uint64_t instructions;
	double preparing;  /* s before the run */
	char partial[100]; /* why not all of the run was counted, or empty */
	struct count_private *own;
};

struct count_session *count_new(const struct count_options *o);
void count_free(struct count_session *s);
