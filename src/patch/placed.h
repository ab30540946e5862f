/* The probes of a fragment, and where they are: a table in few bytes, as that of moved
 * instructions. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* The place of a probe's code in the fragment, without its asides, which are after all other
 * code. */
struct placed_probe {
	uint32_t probe; /* index in the request */
	uint32_t offset, size;
};

/* It ascends in offset; a probe may be in several places. */
struct placed_table {
	uint8_t *bytes;
	uint32_t count; /* of places */
	uint32_t size;  /* of `bytes` */
};

void placed_table_init(struct placed_table *t, const struct placed_probe *list, uint32_t count,
		       struct arena *tmp);
void placed_table_copy(struct placed_table *to, const struct placed_table *from);
void placed_table_release(struct placed_table *t);

/* Reads a table from its beginning. */
struct placed_reader {
	const uint8_t *at;
	uint32_t left;
	struct placed_probe last;
};

void placed_open(struct placed_reader *r, const struct placed_table *t);
/* False at the end. */
bool placed_next(struct placed_reader *r, struct placed_probe *out);
