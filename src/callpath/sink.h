/* What the sampler tells, into the profile. */
#pragma once
#include "callpath/finish.h"
#include "callpath/stacks.h"
#include "callpath/unfinished.h"

struct sink {
	struct stacks stacks;
	struct path_finisher finisher;
	struct unfinished unfinished;
	uint32_t wait_metric; /* of blocked threads */
	uint64_t samples;
	/* For who wants more of samples than the profile; may be NULL. A sample may be changed
	 * before its path is looked for; afterwards its node is known, and its path, if it has one.
	 */
	void (*before)(void *ctx, struct sample *sample);
	void (*placed)(void *ctx, const struct sample *sample, const struct walk *w, uint32_t node);
	void *ctx;
	/* Called after each sample, unless it is NULL: there may be thousands before the sampler
	 * returns. */
	void (*tick)(void *ctx);
	void *tick_ctx;
};

void sink_init(struct sink *s, struct profile *p, struct codes *c);
void sink_release(struct sink *s);
/* All that was told is in the profile. */
void sink_finish(struct sink *s);
/* What to give to a sampler. */
struct sampler_sink sink_callbacks(struct sink *s);
