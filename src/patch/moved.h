/* The instructions of a fragment, and where they were: a table in few bytes. A large program has
 * millions of moved instructions, and who asks for them asks for one at a time.
 *
 * An instruction that follows the last one, here and in the original, takes a byte. Every so many
 * instructions there is a mark, where reading can begin. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* A moved instruction. The table ascends in all offsets and in va. Code between two entries
 * (probes, jumps) belongs to no instruction. */
struct moved {
	uint64_t va;
	uint32_t arrival; /* offset in the fragment where the probes before it begin, if any */
	uint32_t offset;  /* offset of its first byte */
	/* size of its moved form; a thread may be moved here only to its first byte */
	uint32_t size;
	uint8_t length; /* length of the original */
	bool syscall;
	bool landing;  /* a landing instruction: the original is executed too, before a patch */
	bool in_place; /* only its probes are here; after them control goes to the original */
};

struct moved_table {
	struct moved_mark *marks; /* ascending */
	uint8_t *bytes;
	uint32_t count; /* of instructions */
	uint32_t size;  /* of `bytes` */
};

void moved_table_init(struct moved_table *t, const struct moved *list, uint32_t count,
		      struct arena *tmp);
void moved_table_copy(struct moved_table *to, const struct moved_table *from);
void moved_table_release(struct moved_table *t);

/* Reads a table from its beginning, or from where a search found something. */
struct moved_reader {
	const struct moved_table *table;
	const uint8_t *at;
	uint32_t next;      /* number of the next instruction */
	struct moved after; /* what the next instruction is compared with */
};

void moved_open(struct moved_reader *r, const struct moved_table *t);
/* False at the end. */
bool moved_next(struct moved_reader *r, struct moved *out);

/* Find the last instruction whose probes begin at `offset` or before it, or the last one at va or
 * before it; false if there is none. Reading continues after it. */
bool moved_find_offset(struct moved_reader *r, const struct moved_table *t, uint32_t offset,
		       struct moved *out);
bool moved_find_va(struct moved_reader *r, const struct moved_table *t, uint64_t va,
		   struct moved *out);
