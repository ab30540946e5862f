/* The region as a file: for what is too large to be mapped. */
#pragma once
#include "probe/region/target.h"

/* The next part of the region that has memory, from *from on and before `end`. */
bool region_next_data(const struct target *t, uint64_t *from, uint64_t end, uint64_t *to);
/* What is not mapped. */
bool region_read(const struct target *t, uint64_t offset, void *out, uint64_t size);
bool region_write(const struct target *t, uint64_t offset, const void *from, uint64_t size);
