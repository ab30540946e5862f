/* Stacks into the profile. Consecutive samples of a thread have most of their callers in
 * common: each thread keeps the nodes of its last path, and only what differs is looked up. So a
 * recursion of 100,000 calls costs a comparison for each, not a search. */
#pragma once
#include "callpath/watched.h"
#include "unwind/walk.h"

/* Images of the profile and the codes they come from. */
struct images {
	struct profile *profile;
	VEC(uint32_t) of_code;    /* by the code's id; PROFILE_NONE if not in the profile */
	VEC(struct code *) codes; /* by image */
};

void images_init(struct images *i, struct profile *p);
void images_release(struct images *i);

/* The image of a code in the profile, added if it is new; PROFILE_NONE for NULL. */
uint32_t images_find(struct images *i, struct code *c);

/* Processes, threads and images of a profile, and the stacks in it. */
struct stacks {
	struct profile *profile;
	struct watched watched;
	struct images images;
};

void stacks_init(struct stacks *s, struct profile *p, struct codes *c);
void stacks_release(struct stacks *s);

enum stack_state { STACK_RUNS, STACK_IN_KERNEL, STACK_WAITS };

/* A thread's stack, as a sample or a stop found it. */
struct stack {
	int pid, tid;
	const struct walk *walk; /* NULL: it has no callers in user code */
	enum stack_state state;  /* time in the kernel or waiting hangs off the innermost frame */
	uint32_t metric;
	uint64_t amount;
};
/* Adds it to the profile; its node. */
uint32_t stacks_add(struct stacks *s, const struct stack *x);
