/* Records a profile: samples are walked, put into a calling-context tree, and saved while the
 * program runs. At the end, the sampled code is fused with its source structure.
 *
 *	record_new()
 *	session_start() ...   as in session/session.h
 *	record_free()
 */
#pragma once
#include "sample/sampler.h"
#include "session/session.h"

struct record_options {
	struct session_options session;
	/* Single threads to observe, if no program is started. */
	const int *tids;
	unsigned tid_count;
	const char *const *events; /* names */
	unsigned event_count;      /* 1 .. EVENTS_MAX */
	unsigned hz;
	size_t max_stack;
	bool wall;
	/* Called at the end, before the source structure of sampled code in this file is
	 * recovered. */
	void (*recovers)(void *ctx, const char *path);
	void *recovers_ctx;
};

struct recording {
	struct session session;
	uint64_t samples, complete, lost; /* set by session_leave() */
	uint32_t threads;
	char note[700]; /* the sampler's */
	struct record_private *own;
};

/* Returns NULL and an error if the options demand something that cannot be sampled. */
struct recording *record_new(const struct record_options *o, struct err *e);
void record_free(struct recording *r);
