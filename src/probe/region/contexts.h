/* The counting state of threads, in the region (runtime/abi_count.h). */
#pragma once
#include "probe/region/target.h"

/* Prepares all threads for counting, before code that counts goes in; later threads are prepared
 * when they start. False if there is no memory. */
bool contexts_begin(struct target *t);
/* Makes a thread without memory for contexts count into the sink. */
void contexts_give_up(struct target *t, uint32_t slot);
/* Prepares a thread for counting. */
void contexts_prepare(struct target *t, uint32_t slot);
/* Gives back the memory of a thread that has ended. */
void contexts_wipe(struct target *t, uint32_t slot);
/* Offset of the root's context in the region. */
uint64_t contexts_root(uint32_t slot);
/* Notes an activation that is adopted: control appears in its context in a call, or at `va`. */
void contexts_note_adopted(struct thread_slot *slot, uint64_t context, uint32_t site, uint64_t va);

/* A thread's contexts in the region, and a copy of a part of them. */
struct context_heap {
	const struct target *target;
	uint64_t base;   /* run-time address */
	uint64_t offset; /* in the region */
	struct rt_count state;
	uint8_t *bytes;
	uint64_t first, end; /* offsets of the copied bytes in the heap */
	uint64_t room;
};
/* False, with nothing to free, if the thread has none. Copies nothing yet. */
bool contexts_open(const struct target *t, uint32_t slot, struct context_heap *out);
bool contexts_copy_all(struct context_heap *h);
/* The record at *at; moves *at after it. It is valid until the next call, unless all was copied.
 * NULL: no more. */
struct rt_record *contexts_record(struct context_heap *h, uint64_t *at);

/* A copy of a thread's shadow frames. */
struct frames {
	uint64_t top;    /* offset of the innermost frame in the region */
	uint8_t *shadow; /* from there up to the root's frame */
	uint64_t size;
	struct rt_aside *asides;
	uint32_t aside_count;
};
bool frames_copy(const struct target *t, uint32_t slot, uint32_t asides, struct frames *out);
void frames_release(struct frames *f);
/* Walks frames from the innermost outwards. */
struct shadow_walk {
	const struct context_heap *heap;
	uint8_t *at, *end; /* the current frame, and the end of the frames */
	struct rt_shadow *frame;
	const struct rt_counted *counted; /* its function */
	uint32_t size;
	bool complete; /* it has reached the end */
};
bool shadow_next(struct shadow_walk *w);
