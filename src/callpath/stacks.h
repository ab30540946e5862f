/* Adds call stacks to the profile. Consecutive samples of a thread share most of their callers. So
 * each thread keeps the nodes of its last stack, and only frames that differ are looked up: in a
 * stack of 100,000 frames, most take a comparison and no lookup. */
#pragma once
#include "callpath/watched.h"
#include "unwind/walk.h"

/* The modules of the profile, and the code that each comes from. */
struct modules {
	struct profile *profile;
	VEC(uint32_t) of_code;    /* by the code's id; PROFILE_NONE if not in the profile */
	VEC(struct code *) codes; /* by module */
};

void modules_init(struct modules *m, struct profile *p);
void modules_release(struct modules *m);

/* The module of some code in the profile, added if it is new; PROFILE_NONE for NULL. */
uint32_t modules_find(struct modules *m, struct code *c);

/* Processes, threads and modules of a profile, and the call stacks in it. */
struct stacks {
	struct profile *profile;
	struct watched watched;
	struct modules modules;
};

void stacks_init(struct stacks *s, struct profile *p, struct codes *c);
void stacks_release(struct stacks *s);

enum stack_state { STACK_RUNS, STACK_IN_KERNEL, STACK_WAITS };

/* A thread's call stack, from a sample or a stop. */
struct stack {
	int pid, tid;
	const struct walk *walk; /* NULL: there are no frames in user code */
	enum stack_state state;  /* kernel or blocked time is a child of the innermost frame */
	uint32_t metric;
	uint64_t amount;
};
/* Adds a call stack to the profile; returns its node. */
uint32_t stacks_add(struct stacks *s, const struct stack *x);
