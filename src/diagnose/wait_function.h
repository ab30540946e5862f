/* What a call stack says about waiting: which function of the plumbing (plumbing.h) waits, and for
 * which kind of object. */
#pragma once
#include "base/hashmap.h"
#include "diagnose/waits.h"
#include "unwind/walk.h"

struct wait_frame;

/* What is known of frames. Names are compared and calls decoded once for each place in the code:
 * most samples are in a few of them. */
struct wait_functions {
	VEC(struct wait_frame) frames;
	struct hashmap at; /* hash of code, va and exact -> index in frames */
};

void wait_functions_release(struct wait_functions *k);

struct wait_function {
	enum object_kind kind; /* OBJECT_KINDS: there is none */
	const struct code *code;
	uint64_t va;    /* in it */
	uint64_t bias;  /* of the code */
	bool innermost; /* the thread is in this function itself */
};

/* Finds the function of the plumbing that waits. The outermost one, which the program's own code
 * calls, is decisive. */
struct wait_function wait_function_on_stack(struct wait_functions *k, const struct walk *w);
