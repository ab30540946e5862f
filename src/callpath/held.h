/* Whole stacks, read while their threads were held. One stop serves all samples that were taken
 * before it and come to be looked at after it, so that a thread whose stack is larger than the
 * copies in its samples is not stopped for each of them.
 *
 * The thread has run on between a sample and the stop. What was above the sample's copy is still as
 * it was only if the thread has never returned into it: then it stands below that, and the end of
 * the copy is found unchanged in memory. */
#pragma once
#include "callpath/deep.h"

enum {
	HELD_STACKS = 16,
	HELD_ROOM = 1 << 16, /* for what a sample's stack had below the one that was held */
};

struct held_stack {
	int pid, tid;     /* 0: none */
	uint64_t time;    /* ns, CLOCK_MONOTONIC: when it was read */
	uint64_t address; /* of the first byte that was read */
	size_t size;
	VEC(uint8_t) bytes; /* HELD_ROOM bytes, and those that were read */
	struct deep deep;
};

struct held_stacks {
	struct held_stack all[HELD_STACKS];
	uint8_t saved[HELD_ROOM];
};

void held_release(struct held_stacks *h);

/* The stack of a thread, or else the one that was read the longest ago, emptied. */
struct held_stack *held_find(struct held_stacks *h, int pid, int tid);
/* Reads the stack from an address up to its end; the thread must be stopped. */
void held_read(struct held_stack *s, uint64_t from);
/* Whether the end of a sample's copy is the same in the stack. */
bool held_matches(const struct held_stack *s, const struct stack_copy *copy);
/* Goes on with a walk that ended at the end of a copy that matches. */
void held_walk(struct held_stacks *h, struct held_stack *s, const struct stack_copy *copy,
	       struct walker *w, struct space *space, struct walk *out);
