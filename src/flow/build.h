/* Building one procedure's flow graph: a pure function of the procedure's bounds and of what the
 * caller knows about its callees. */
#pragma once
#include "flow/cfg.h"
#include "image/image.h"
#include "isa/arch.h"

struct build_env {
	const struct image *im;
	const struct arch *arch;
	/* The procedure's code: ranges[0] begins at its entry, further ones are split-off parts. */
	const struct part *ranges;
	uint32_t range_count;
	bool bounded; /* the file says where the procedure ends; else ranges[0] is only an upper
			 limit */
	/* The end of ranges[0] if the starts behind it that are only guesses are none; else 0. */
	uint64_t reach;
	/* Addresses in data that point into the ranges but not at the entry: labels of computed
	 * gotos. */
	const uint64_t *labels;
	uint32_t label_count;
	/* Whether a procedure surely starts at this address. */
	bool (*is_start)(void *ctx, uint64_t va);
	/* Whether a call to this address comes back. */
	bool (*call_returns)(void *ctx, uint64_t target);
	/* Whether a call through this (relocated) pointer's slot comes back. */
	bool (*slot_returns)(void *ctx, uint64_t slot);
	void *ctx;
};

/* The graph, in `a`. */
const struct cfg *cfg_build(const struct build_env *env, struct arena *a, struct arena *tmp);

/* Whether control reaches a return without indirect jumps; cheap. If not, the graph may still have
 * one. */
bool cfg_reaches_return(const struct build_env *env, struct arena *tmp);
