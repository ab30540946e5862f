/* Sorting items by an amount. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Returns the indices of the items, sorted by the uint64_t at `offset` in each item, smallest
 * first; among equal items the later one comes first. Prepending the items to a linked list in
 * this order yields a list with the largest first and equal items in their original order. The
 * caller frees the result. */
uint32_t *rank_by_amount(const void *items, uint32_t count, size_t item_size, size_t offset);

/* The same for an array `items` of structs with the amount in `field`. */
#define RANK_BY(items, count, field)                                                               \
	rank_by_amount(items, count, sizeof(*(items)), offsetof(__typeof__(*(items)), field))
