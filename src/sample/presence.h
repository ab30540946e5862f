/* The kernel copies stacks without waiting for pages: the copy ends where a page is not present, as
 * in a buffer on the stack that was never written to. Reading these pages from outside makes them
 * present for later samples. */
#pragma once
#include "sample/ring.h"

enum { PRESENCE_THREADS = 256 };

struct presence {
	struct {
		int tid;
		uint64_t end; /* where a copy ended early; what follows is read only once */
	} seen[PRESENCE_THREADS];
	uint8_t bytes[RECORD_MAX];
};

/* If the sample's copy of the stack ended early, reads the stack after it. */
void presence_make(struct presence *p, const struct record *sample);
