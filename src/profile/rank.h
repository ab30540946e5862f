/* Putting items in the order of what they amount to. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* The numbers of the items by the uint64_t at `offset` in each, smallest first; of equal ones the
 * later first. Putting them in front of a list one by one so gives the list largest first, equal
 * ones as they were. To be freed. */
uint32_t *rank_by_amount(const void *items, uint32_t count, size_t item_size, size_t offset);

/* The same for an array `items` of structs with the amount in `field`. */
#define RANK_BY(items, count, field)                                                               \
	rank_by_amount(items, count, sizeof(*(items)), offsetof(__typeof__(*(items)), field))
