/* What a call stack says about memory management: which function of an allocator the program has
 * called. Allocators are known by the names of what they export. Their other functions are known by
 * the stack: they were called by those. */
#pragma once
#include "base/hashmap.h"
#include "diagnose/code.h"
#include "unwind/walk.h"

/* True for the name of an allocator's function. */
bool is_allocator(const char *symbol);
/* Returns the name of an allocator's function as it is shown: "malloc", "operator new". It may have
 * an end that begins with @. */
const char *allocator_name(const char *symbol);

struct allocator_frame;

/* What is known of frames: names are compared and calls decoded once for each place in the code. */
struct allocations {
	VEC(struct allocator_frame) frames;
	struct hashmap at; /* hash of code, va and exact -> index in frames */
};

void allocations_release(struct allocations *a);

struct allocation {
	const char *function; /* what the program has called: a symbol; NULL: nothing */
	uint32_t caller;      /* the innermost frame that is not the allocator's, nor a wrapper */
};

struct allocation allocation_on_stack(struct allocations *a, const struct walk *w);
