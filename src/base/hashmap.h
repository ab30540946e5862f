/* A map from 64-bit keys to 32-bit values (indices): open addressing, linear probing, no deletion.
 * All-zero is a valid empty map.
 *
 * A key is an address or a number, or the hash of something larger. Whoever takes a hash for the
 * thing itself accepts that two things may be taken for one: among a million of them that happens
 * once in 30 million runs, which will do for measurements. Where it will not, hashmap_find() and
 * hashmap_insert() compare the things themselves. */
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
/* Makes it empty, and keeps its memory unless that is much. */
void hashmap_clear(struct hashmap *m);
/* HASHMAP_NONE if the key is not there. */
uint32_t hashmap_get(const struct hashmap *m, uint64_t key);
/* Adds the pair; if the key is there already, leaves its value and returns it, else returns
 * `value`. */
uint32_t hashmap_add(struct hashmap *m, uint64_t key, uint32_t value);
/* Adds the pair or replaces the key's value. */
void hashmap_put(struct hashmap *m, uint64_t key, uint32_t value);

/* Whether the thing with this value is the one that is looked for. */
typedef bool (*hashmap_same)(const void *ctx, uint32_t value);
/* The value of the thing, whose hash it is; HASHMAP_NONE if it is not there. */
uint32_t hashmap_find(const struct hashmap *m, uint64_t hash, hashmap_same same, const void *ctx);
/* Adds a thing that is not there. */
void hashmap_insert(struct hashmap *m, uint64_t hash, uint32_t value);

uint64_t hash_bytes(const void *p, uint64_t n, uint64_t seed);
