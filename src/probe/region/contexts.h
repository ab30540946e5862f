/* The counting state of threads, in the region (runtime/abi_count.h). */
#pragma once
#include "probe/region/target.h"

/* Threads get what counting needs, before code that counts goes in: those there are, and others as
 * they come. False if there is no memory for it. */
bool contexts_begin(struct target *t);
/* A thread that there is no memory for: it counts into the sink. */
void contexts_give_up(struct target *t, uint32_t slot);
void contexts_prepare(struct target *t, uint32_t slot);
void contexts_wipe(struct target *t, uint32_t slot);
/* Of the root, in the region. */
uint64_t contexts_root(uint32_t slot);
/* Control appears in a context without having come there: in a call, or at `va`. */
void contexts_note_met(struct thread_slot *slot, uint64_t context, uint32_t site, uint64_t va);

/* A thread's contexts: as they are in the region, and as much of them as was copied. */
struct context_heap {
	const struct target *target;
	uint64_t base;   /* run-time address */
	uint64_t offset; /* in the region */
	struct rt_count state;
	uint8_t *bytes;
	uint64_t first, end; /* offsets of these in the heap */
	uint64_t room;
};
/* False, with nothing to free, if the thread has none. Nothing is copied yet. */
bool contexts_open(const struct target *t, uint32_t slot, struct context_heap *out);
bool contexts_copy_all(struct context_heap *h);
/* The record at *at; moves *at behind it. It is good until the next call, unless all was copied.
 * NULL: no more. */
struct rt_record *contexts_record(struct context_heap *h, uint64_t *at);

/* A copy of a thread's frames. */
struct frames {
	uint64_t top;    /* offset of the innermost in the region */
	uint8_t *shadow; /* from there up to the root's */
	uint64_t size;
	struct rt_aside *asides;
	uint32_t aside_count;
};
bool frames_copy(const struct target *t, uint32_t slot, uint32_t asides, struct frames *out);
void frames_release(struct frames *f);
/* From one frame to the next outer one. */
struct shadow_walk {
	const struct context_heap *heap;
	uint8_t *at, *end; /* from where up to where */
	struct rt_shadow *frame;
	const struct rt_counted *counted; /* its procedure */
	uint32_t size;
	bool complete; /* it came to the end */
};
bool shadow_next(struct shadow_walk *w);
