/* Whole stacks, read while their threads were stopped. One stop serves all samples that were taken
 * before it and are processed after it, so that a thread whose stack is larger than the copies in
 * its samples is not stopped for each of them.
 *
 * The thread runs between a sample and the stop. The stack above the sample's copy is unchanged
 * only if the thread has not returned into it since. In that case the stack pointer is still below
 * it, and the last bytes of the copy are found unchanged in memory. */
#pragma once
#include "callpath/deep.h"

enum {
	HELD_STACKS = 16,
	/* bytes before a held stack, for a sample's copy that begins at a lower address */
	HELD_ROOM = 1 << 16,
};

struct held_stack {
	int pid, tid;     /* 0: none */
	uint64_t time;    /* ns, CLOCK_MONOTONIC: when it was read */
	uint64_t address; /* of the first byte that was read */
	size_t size;
	VEC(uint8_t) bytes; /* HELD_ROOM bytes, then those that were read */
	struct deep deep;
};

struct held_stacks {
	struct held_stack all[HELD_STACKS];
	uint8_t saved[HELD_ROOM];
};

void held_release(struct held_stacks *h);

/* The held stack of a thread; if there is none, the one that was read the longest ago, emptied. */
struct held_stack *held_find(struct held_stacks *h, int pid, int tid);
/* Reads the stack from an address up to its end; the thread must be stopped. */
void held_read(struct held_stack *s, uint64_t from);
/* Whether the last bytes of a sample's copy are the same in the held stack. */
bool held_matches(const struct held_stack *s, const struct stack_copy *copy);
/* Continues a walk that ended at the end of a copy, for which held_matches() must hold. */
void held_walk(struct held_stacks *h, struct held_stack *s, const struct stack_copy *copy,
	       struct walker *w, struct space *space, struct walk *out);
