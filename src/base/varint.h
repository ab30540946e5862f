/* Numbers in few bytes: 7 bits in each, the lowest first; the highest bit says that more follow.
 * For tables of our own in memory: what is read is trusted. */
#pragma once
#include <stdint.h>

enum { VARINT_MAX = 10 }; /* bytes of the largest number */

/* Writes x; returns where the next number goes. */
static inline uint8_t *varint_put(uint8_t *at, uint64_t x)
{
	for (; x >= 0x80; x >>= 7)
		*at++ = (uint8_t)(x | 0x80);
	*at++ = (uint8_t)x;
	return at;
}

/* Reads a number, and moves *at behind it. */
static inline uint64_t varint_get(const uint8_t **at)
{
	uint8_t byte = *(*at)++;
	uint64_t x = byte & 0x7f;
	for (unsigned shift = 7; byte >= 0x80; shift += 7) {
		byte = *(*at)++;
		x |= (uint64_t)(byte & 0x7f) << shift;
	}
	return x;
}

/* Small differences become small numbers, whatever their sign. */
static inline uint64_t varint_fold(uint64_t difference)
{
	return difference << 1 ^ (0 - (difference >> 63));
}

static inline uint64_t varint_unfold(uint64_t x)
{
	return x >> 1 ^ (0 - (x & 1));
}
