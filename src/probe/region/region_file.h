/* The region as a file, for the parts that are too large to be mapped. */
#pragma once
#include "probe/region/target.h"

/* Finds the next part of the region from *from on, before `end`, that has memory, and sets *from
 * and *to to its bounds. False if there is none. */
bool region_next_data(const struct target *t, uint64_t *from, uint64_t end, uint64_t *to);
/* Access to parts that are not mapped. */
bool region_read(const struct target *t, uint64_t offset, void *out, uint64_t size);
bool region_write(const struct target *t, uint64_t offset, const void *from, uint64_t size);
