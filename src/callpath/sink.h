/* Puts what the sampler reports into the profile. */
#pragma once
#include "callpath/finish.h"
#include "callpath/stacks.h"
#include "callpath/unfinished.h"

enum process_happening {
	PROCESS_FORKED,
	PROCESS_EXECUTED,
	PROCESS_NAMED, /* its first thread has a name, which watched_thread() knows */
	PROCESS_MAPPED,
	PROCESS_ENDED
};

struct sink {
	struct stacks stacks;
	struct path_finisher finisher;
	struct unfinished unfinished;
	uint32_t wait_metric; /* for blocked threads */
	uint64_t samples;
	/* For callers that need more of samples than the profile has; may be NULL. before() may
	 * change a sample before its stack is walked. placed() gets its node in the profile, and
	 * its call stack, or NULL. */
	void (*before)(void *ctx, struct sample *sample);
	void (*placed)(void *ctx, const struct sample *sample, const struct walk *w, uint32_t node);
	/* Called when something has happened to a process; may be NULL. `parent` is who has forked
	 * it, else 0. */
	void (*process)(void *ctx, enum process_happening what, int pid, int parent);
	void *ctx;
	/* Called after each sample; may be NULL. The sampler may deliver thousands before it
	 * returns. */
	void (*tick)(void *ctx);
	void *tick_ctx;
};

void sink_init(struct sink *s, struct profile *p, struct codes *c);
void sink_release(struct sink *s);
/* Adds the samples that are still kept (unfinished.h) to the profile. */
void sink_finish(struct sink *s);
/* The callbacks to give to a sampler. */
struct sampler_sink sink_callbacks(struct sink *s);
