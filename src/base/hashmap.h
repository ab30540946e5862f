/* A map from 64-bit keys to 32-bit values (indices): open addressing, linear probing, no deletion.
 * All-zero is a valid empty map.
 *
 * A key is an address, a number, or the hash of something larger. A caller that uses a hash as the
 * key itself accepts that two different objects may be taken for one. Among a million objects that
 * happens once in 30 million runs, which is good enough for measurements. Where it is not,
 * hashmap_find() and hashmap_insert() compare the objects themselves. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct hashmap {
	uint64_t *keys;
	uint32_t *values; /* HASHMAP_NONE marks an empty slot */
	uint32_t len, cap;
};

enum { HASHMAP_NONE = UINT32_MAX };

void hashmap_release(struct hashmap *m);
/* Removes all entries. Keeps the memory, unless the map is large. */
void hashmap_clear(struct hashmap *m);
/* The key's value, or HASHMAP_NONE if the key is not in the map. */
uint32_t hashmap_get(const struct hashmap *m, uint64_t key);
/* Adds the pair and returns `value`. If the key exists already, keeps and returns its value. */
uint32_t hashmap_add(struct hashmap *m, uint64_t key, uint32_t value);
/* Adds the pair or replaces the key's value. */
void hashmap_put(struct hashmap *m, uint64_t key, uint32_t value);

/* Whether the entry with this value is the one looked for. */
typedef bool (*hashmap_same)(const void *ctx, uint32_t value);
/* The value of the entry that has this hash and for which same() is true, or HASHMAP_NONE. */
uint32_t hashmap_find(const struct hashmap *m, uint64_t hash, hashmap_same same, const void *ctx);
/* Adds an entry that is not in the map yet. */
void hashmap_insert(struct hashmap *m, uint64_t hash, uint32_t value);

uint64_t hash_bytes(const void *p, uint64_t n, uint64_t seed);
