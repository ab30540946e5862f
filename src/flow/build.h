/* Builds the flow graph of one function. The result depends only on the bounds of the function and
 * on what the caller knows about its callees. */
#pragma once
#include "flow/cfg.h"
#include "isa/arch.h"
#include "module/module.h"

struct build_env {
	const struct module *module;
	const struct arch *arch;
	/* The code of the function. ranges[0] begins at its entry; the others are split-off parts.
	 */
	const struct part *ranges;
	uint32_t range_count;
	bool bounded; /* the file gives ranges[0].end; otherwise it is only an upper limit */
	/* Where ranges[0] would end if the starts right after it that are only guesses were labels
	 * of this function; at most ranges[0].end if there are none. */
	uint64_t reach;
	/* Addresses in data that point into the ranges but not at the entry: probably labels of
	 * computed gotos. */
	const uint64_t *labels;
	uint32_t label_count;
	/* Whether a function certainly starts at this address. */
	bool (*is_start)(void *ctx, uint64_t va);
	/* Whether a call to this address returns. */
	bool (*call_returns)(void *ctx, uint64_t target);
	/* Whether a call through the (relocated) pointer in this slot returns. */
	bool (*slot_returns)(void *ctx, uint64_t slot);
	void *ctx;
};

/* Returns the graph, allocated in `a`. */
const struct cfg *cfg_build(const struct build_env *env, struct arena *a, struct arena *tmp);

/* Whether a return can be reached without following an indirect jump. This is cheap. If the answer
 * is false, the whole graph may still have a return. */
bool cfg_reaches_return(const struct build_env *env, struct arena *tmp);
