/* Reads the bytes of a file without leaving them. A cursor that runs over its end turns bad, stays
 * at the end and reads zeros: check `bad` once, after the last read. Values are little-endian, like
 * every file and host that Sonde supports. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct slice {
	const uint8_t *at;
	uint64_t size;
};

/* The elements of a vector (base/vec.h). */
#define SLICE_OF(v)                                                                                \
	(struct slice)                                                                             \
	{                                                                                          \
		(const uint8_t *)(v)->data, (v)->len *(uint64_t)sizeof(*(v)->data)                 \
	}

static inline bool slice_holds(const struct slice *s, const void *p)
{
	return (uintptr_t)p >= (uintptr_t)s->at && (uintptr_t)p - (uintptr_t)s->at < s->size;
}

struct cursor {
	const uint8_t *at, *end;
	bool bad;
};

/* True if `size` bytes at `offset` lie within `total`. */
static inline bool bytes_inside(uint64_t offset, uint64_t size, uint64_t total)
{
	return offset <= total && size <= total - offset;
}

/* Empty if `bytes` is NULL. */
static inline struct cursor cursor_over(const uint8_t *bytes, uint64_t size)
{
	static const uint8_t nothing;
	if (!bytes)
		return (struct cursor){.at = &nothing, .end = &nothing};
	return (struct cursor){.at = bytes, .end = bytes + size};
}

static inline uint64_t cursor_left(const struct cursor *c)
{
	return (uint64_t)(c->end - c->at);
}

/* Steps over n bytes and returns where they begin; NULL if there are fewer. */
static inline const uint8_t *cursor_take(struct cursor *c, uint64_t n)
{
	if (n > cursor_left(c)) {
		c->bad = true;
		c->at = c->end;
		return NULL;
	}
	const uint8_t *p = c->at;
	c->at += n;
	return p;
}

/* The next n bytes (at most 8) as an unsigned number. */
static inline uint64_t cursor_uint(struct cursor *c, unsigned n)
{
	uint64_t v = 0;
	const uint8_t *p = cursor_take(c, n);
	if (p)
		memcpy(&v, p, n);
	return v;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	return (uint8_t)cursor_uint(c, 1);
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	return (uint32_t)cursor_uint(c, 4);
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	return cursor_uint(c, 8);
}

/* The next n bytes (at most 8) as a signed number. */
static inline uint64_t cursor_sint(struct cursor *c, unsigned n)
{
	unsigned shift = 64 - 8 * n;
	return (uint64_t)((int64_t)(cursor_uint(c, n) << shift) >> shift);
}

/* Reads a LEB128 number; bits above 64 are lost. A number longer than any compiler writes is bad:
 * reading it must not take time in proportion to the file. */
static inline uint64_t cursor_leb(struct cursor *c, bool is_signed)
{
	enum { LEB_MAX_BYTES = 16 };
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t byte;
	do {
		byte = cursor_u8(c);
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		c->bad |= shift > LEB_MAX_BYTES * 7;
	} while (byte & 0x80 && !c->bad);
	if (is_signed && shift < 64 && byte & 0x40)
		v |= ~(uint64_t)0 << shift;
	return v;
}

static inline uint64_t cursor_uleb(struct cursor *c)
{
	return cursor_leb(c, false);
}

static inline uint64_t cursor_sleb(struct cursor *c)
{
	return cursor_leb(c, true);
}
