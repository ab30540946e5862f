/* What was counted (see runtime/abi_count.h), thread by thread. */
#pragma once
#include <stdbool.h>

#include "runtime/abi.h"

struct target;

enum { CONTEXT_NONE = UINT32_MAX };

/* A procedure called along one path. Contexts are known by their index in the thread's list, where
 * parents come first; number 0 is the root. */
struct counted_context {
	uint32_t parent; /* CONTEXT_NONE: it is the root */
	uint32_t site;   /* of the parent; 0: not in a call, or below the root */
	uint32_t procedure;
	uint32_t word_count;
	const struct counted_word *words; /* ascending */
};

/* One of a context's words that is not 0: few are not. */
struct counted_word {
	uint32_t number;
	uint64_t value;
};

/* Calls of a context at a site that led to another one: to a child, or, in recursion that is
 * folded, to one further out. */
struct counted_call {
	uint32_t parent, site, child;
	uint64_t calls;
};

/* Calls that were left in the middle (longjmp, exceptions), and calls that control went on behind
 * without having come from them (setjmp, activations that were met in the middle). */
struct counted_departure {
	uint32_t context, site;
	uint64_t va;   /* site 0: before this instruction; 0: not known where */
	bool arriving; /* and before what is counted there, if that is the first of its block */
	uint64_t left, resumed;
};

/* An activation that has not ended: on the shadow stack, innermost first, and then on stacks that
 * were set aside. `site` is that of its last call. The thread's innermost, when it was left, may be
 * in the middle: site 0. */
struct counted_frame {
	uint32_t context, site;
	uint64_t va;   /* site 0: of its next instruction; 0: not known */
	bool arriving; /* that is the first of its block, and nothing is counted for it yet */
	bool aside;
	/* What its loops have counted in registers: to be added to the words of the context. */
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
	bool uncounted; /* its stack may get too large: nothing of it is here */
	const struct counted_context *contexts;
	const struct counted_call *calls; /* each triple once, ascending */
	const struct counted_departure *departures;
	const struct counted_frame *frames;
	const struct counted_trips *trips; /* ascending */
	uint32_t context_count, call_count, departure_count, frame_count, trips_count;
	struct rt_count state; /* with what was dropped */
};

/* Every thread that there was, the living as they are now: for exact figures, stop the process. */
typedef void (*counts_visitor)(void *ctx, const struct counted_thread *thread);
void target_read_counts(struct target *t, counts_visitor visit, void *ctx);
