/* The same walk with next to no memory: a few bytes of the stack, and the return addresses that the
 * kernel would find by the frame pointer. */
#pragma once
#include "process/memory.h"
#include "unwind/walk.h"

struct by_records {
	struct walk walk;
	uint64_t complete, wrong;
	uint64_t first_wrong; /* pc */
};

/* Compares with `right`, the walk with all memory. A walk by records may give up, but not differ.
 */
void by_records_compare(struct by_records *b, struct walker *w, struct space *s,
			const struct registers *regs, struct memory_window *memory,
			const struct walk *right);
