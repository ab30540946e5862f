/* Sorting large tables by address in linear time. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Sorts items by the uint64_t at `key_offset` in each; equal keys keep their order. */
void order_by_address(void *items, uint32_t count, size_t item_size, size_t key_offset);

/* The number of items in a sorted table whose key is <= `key`. */
uint32_t order_up_to(const void *items, uint32_t count, size_t item_size, size_t key_offset,
		     uint64_t key);

/* The same for an array `items` of structs with the key in `field`. */
#define ORDER_UP_TO(items, count, field, key)                                                      \
	order_up_to(items, count, sizeof(*(items)), offsetof(__typeof__(*(items)), field), key)
