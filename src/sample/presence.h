/* The kernel copies stacks without waiting for pages: a buffer on the stack that nobody has touched
 * ends the copy. Reading such pages from outside makes them present, for the samples to come. */
#pragma once
#include "sample/ring.h"

enum { PRESENCE_THREADS = 256 };

struct presence {
	struct {
		int tid;
		uint64_t end; /* of a copy that was too short, and is not worth a second look */
	} seen[PRESENCE_THREADS];
	uint8_t bytes[RECORD_MAX];
};

/* Looks at a sample; reads on behind its copy of the stack if that ended early. */
void presence_make(struct presence *p, const struct record *sample);
