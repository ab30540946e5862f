/* A radix sort on (key, index) pairs, then one pass that moves the items. The addresses in a table
 * usually span few bits, so two or three passes are enough; a table that is sorted already needs
 * none. */
#include "base/order.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum {
	DIGIT_BITS = 11,
	BUCKETS = 1 << DIGIT_BITS,
	MAX_INSERTION_SORT = 64, /* up to this count, insertion sort beats clearing the buckets */
};

struct pair {
	uint64_t key;
	uint32_t index;
};

static uint64_t key_of(const void *items, size_t i, size_t item_size, size_t key_offset)
{
	uint64_t key;
	memcpy(&key, (const char *)items + i * item_size + key_offset, sizeof(key));
	return key;
}

static bool is_sorted(const void *items, uint32_t count, size_t item_size, size_t key_offset)
{
	uint64_t last = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t key = key_of(items, i, item_size, key_offset);
		if (key < last)
			return false;
		last = key;
	}
	return true;
}

/* Fills the pairs with keys relative to the lowest one. Returns the highest of these. */
static uint64_t make_pairs(struct pair *out, const void *items, uint32_t count, size_t item_size,
			   size_t key_offset)
{
	uint64_t low = UINT64_MAX, high = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t key = key_of(items, i, item_size, key_offset);
		low = key < low ? key : low;
		high = key > high ? key : high;
		out[i] = (struct pair){.key = key, .index = i};
	}
	for (uint32_t i = 0; i < count; i++)
		out[i].key -= low;
	return high - low;
}

static void distribute(struct pair *to, const struct pair *from, uint32_t count, unsigned shift)
{
	uint32_t at[BUCKETS] = {0}, sum = 0;
	for (uint32_t i = 0; i < count; i++)
		at[from[i].key >> shift & (BUCKETS - 1)]++;
	for (uint32_t b = 0; b < BUCKETS; b++) {
		uint32_t n = at[b];
		at[b] = sum;
		sum += n;
	}
	for (uint32_t i = 0; i < count; i++)
		to[at[from[i].key >> shift & (BUCKETS - 1)]++] = from[i];
}

static void insertion_sort(struct pair *a, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		struct pair next = a[i];
		uint32_t at = i;
		for (; at && a[at - 1].key > next.key; at--)
			a[at] = a[at - 1];
		a[at] = next;
	}
}

static void move_items(void *items, const struct pair *order, uint32_t count, size_t item_size)
{
	char *copy = xmalloc(count * item_size);
	memcpy(copy, items, count * item_size);
	for (uint32_t i = 0; i < count; i++)
		memcpy((char *)items + i * item_size, copy + order[i].index * item_size, item_size);
	free(copy);
}

void order_by_address(void *items, uint32_t count, size_t item_size, size_t key_offset)
{
	if (is_sorted(items, count, item_size, key_offset))
		return;
	struct pair *a = xmalloc(2 * (size_t)count * sizeof(*a)), *from = a, *to = a + count;
	uint64_t span = make_pairs(a, items, count, item_size, key_offset);
	if (count <= MAX_INSERTION_SORT)
		insertion_sort(a, count);
	for (unsigned shift = 0; count > MAX_INSERTION_SORT && shift < 64 && span >> shift;
	     shift += DIGIT_BITS) {
		distribute(to, from, count, shift);
		struct pair *swap = from;
		from = to;
		to = swap;
	}
	move_items(items, from, count, item_size);
	free(a);
}

uint32_t order_up_to(const void *items, uint32_t count, size_t item_size, size_t key_offset,
		     uint64_t key)
{
	uint32_t low = 0, high = count;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (key_of(items, mid, item_size, key_offset) <= key)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}
