/* Counts (see runtime/abi_count.h), by thread. */
#pragma once
#include <stdbool.h>

#include "runtime/abi.h"

struct target;

enum { CONTEXT_NONE = UINT32_MAX };

/* A function called along one path. A context is identified by its index in the thread's list,
 * where parents come first; number 0 is the root. */
struct counted_context {
	uint32_t parent; /* CONTEXT_NONE for the root */
	uint32_t site;   /* in the parent; 0: not in a call, or below the root */
	uint32_t function;
	uint32_t word_count;
	const struct counted_word *words; /* ascending */
};

/* A word of a context that is not 0. Most are 0. */
struct counted_word {
	uint32_t number;
	uint64_t value;
};

/* Calls from a context at a site to another context: a child or, where recursion is folded, one
 * further out. */
struct counted_call {
	uint32_t parent, site, child;
	uint64_t calls;
};

/* Calls that did not return (longjmp, exceptions), and calls after which control continued without
 * having made them (setjmp, adopted activations). */
struct counted_departure {
	uint32_t context, site;
	uint64_t va;   /* site 0: before this instruction; 0: unknown */
	bool arriving; /* and before what is counted there, if it is the first instruction of its
			  block */
	uint64_t left, resumed;
};

/* An activation that has not ended: on the shadow stack, innermost first, then on stacks that were
 * set aside. `site` is that of its last call. The thread's innermost activation may be in the
 * middle of its function if counting ended there: site 0. */
struct counted_frame {
	uint32_t context, site;
	uint64_t va;   /* site 0: of its next instruction; 0: unknown */
	bool arriving; /* that instruction is the first of its block, and nothing is counted for the
			  block yet */
	bool aside;
	/* What its loops have counted in registers: to be added to these words of the context. */
	uint32_t held_count;
	const struct counted_word *held;
	uint32_t trip_count;
	const uint64_t *trips; /* by slot */
};

struct counted_trips {
	uint32_t loop;
	struct rt_trips trips;
};

struct counted_thread {
	int tid;
	bool ended;
	bool uncounted; /* it has no counts: its stack may get too large, or there was no memory */
	const struct counted_context *contexts;
	const struct counted_call *calls; /* each triple once, ascending */
	const struct counted_departure *departures;
	const struct counted_frame *frames;
	const struct counted_trips *trips; /* ascending */
	uint32_t context_count, call_count, departure_count, frame_count, trips_count;
	struct rt_count state; /* including what was dropped */
};

/* Visits every thread that there was, living ones as they are now: for exact figures, stop the
 * process. */
typedef void (*counts_visitor)(void *ctx, const struct counted_thread *thread);
void target_read_counts(struct target *t, counts_visitor visit, void *ctx);
