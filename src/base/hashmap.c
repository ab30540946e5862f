#include "base/hashmap.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Spreads the bits of x. The multipliers here and in hash_bytes() are odd, so that no bits are
 * lost, and have no regular pattern of bits; this one is 2^64 divided by the golden ratio. */
static uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0x9e3779b97f4a7c15u;
	x ^= x >> 29;
	return x;
}

void hashmap_release(struct hashmap *m)
{
	free(m->keys);
	free(m->values);
	*m = (struct hashmap){0};
}

void hashmap_clear(struct hashmap *m)
{
	/* A table with more slots is freed instead of wiped. */
	enum { MAX_KEPT_SLOTS = 1024 };
	if (m->cap > MAX_KEPT_SLOTS)
		hashmap_release(m);
	else if (m->len)
		memset(m->values, 0xff, m->cap * sizeof(*m->values));
	m->len = 0;
}

/* The slot of `key`, or the empty slot where it belongs. Requires cap > len. */
static uint32_t slot_of(const struct hashmap *m, uint64_t key)
{
	uint32_t mask = m->cap - 1, i = (uint32_t)mix(key) & mask;
	while (m->values[i] != HASHMAP_NONE && m->keys[i] != key)
		i = (i + 1) & mask;
	return i;
}

/* The empty slot where an entry with this hash belongs. Entries with the same hash are skipped, so
 * equal hashes may occur more than once. */
static uint32_t empty_slot(const struct hashmap *m, uint64_t hash)
{
	uint32_t mask = m->cap - 1, i = (uint32_t)mix(hash) & mask;
	while (m->values[i] != HASHMAP_NONE)
		i = (i + 1) & mask;
	return i;
}

static void grow(struct hashmap *m)
{
	struct hashmap old = *m;
	m->cap = old.cap ? old.cap * 2 : 16;
	m->keys = xmalloc(m->cap * sizeof(*m->keys));
	m->values = xmalloc(m->cap * sizeof(*m->values));
	memset(m->values, 0xff, m->cap * sizeof(*m->values));
	for (uint32_t i = 0; i < old.cap; i++) {
		if (old.values[i] == HASHMAP_NONE)
			continue;
		uint32_t at = empty_slot(m, old.keys[i]);
		m->keys[at] = old.keys[i];
		m->values[at] = old.values[i];
	}
	free(old.keys);
	free(old.values);
}

uint32_t hashmap_get(const struct hashmap *m, uint64_t key)
{
	return m->cap ? m->values[slot_of(m, key)] : (uint32_t)HASHMAP_NONE;
}

/* The value of `key`, which is added if it is new. At least a quarter of the slots stays empty. */
static uint32_t *slot_for(struct hashmap *m, uint64_t key)
{
	if (m->len * 4 >= m->cap * 3)
		grow(m);
	uint32_t at = slot_of(m, key);
	if (m->values[at] == HASHMAP_NONE) {
		m->keys[at] = key;
		m->len++;
	}
	return &m->values[at];
}

uint32_t hashmap_add(struct hashmap *m, uint64_t key, uint32_t value)
{
	uint32_t *at = slot_for(m, key);
	if (*at == HASHMAP_NONE)
		*at = value;
	return *at;
}

void hashmap_put(struct hashmap *m, uint64_t key, uint32_t value)
{
	*slot_for(m, key) = value;
}

uint32_t hashmap_find(const struct hashmap *m, uint64_t hash, hashmap_same same, const void *ctx)
{
	uint32_t mask = m->cap - 1;
	if (!m->cap)
		return HASHMAP_NONE;
	for (uint32_t i = (uint32_t)mix(hash) & mask; m->values[i] != HASHMAP_NONE;
	     i = (i + 1) & mask)
		if (m->keys[i] == hash && same(ctx, m->values[i]))
			return m->values[i];
	return HASHMAP_NONE;
}

void hashmap_insert(struct hashmap *m, uint64_t hash, uint32_t value)
{
	if (m->len * 4 >= m->cap * 3)
		grow(m);
	uint32_t at = empty_slot(m, hash);
	m->keys[at] = hash;
	m->values[at] = value;
	m->len++;
}

uint64_t hash_bytes(const void *p, uint64_t n, uint64_t seed)
{
	const uint8_t *at = p;
	uint64_t h = seed ^ (n * 0x9e3779b97f4a7c15u);
	for (; n >= 8; n -= 8, at += 8) {
		uint64_t word;
		memcpy(&word, at, 8);
		h = (h ^ mix(word)) * 0xd6e8feb86659fd93u;
		h ^= h >> 32;
	}
	uint64_t tail = 0;
	if (n) /* p may be NULL if there are no bytes */
		memcpy(&tail, at, n);
	h = (h ^ mix(tail)) * 0xd6e8feb86659fd93u;
	return mix(h);
}
