/* A map from 64-bit keys (addresses, hashes) to 32-bit values (indices): open addressing, linear
 * probing, no deletion. All-zero is a valid empty map. */
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
/* HASHMAP_NONE if the key is not there. */
uint32_t hashmap_get(const struct hashmap *m, uint64_t key);
/* Adds the pair; if the key is there already, leaves its value and returns it, else returns
 * `value`. */
uint32_t hashmap_add(struct hashmap *m, uint64_t key, uint32_t value);
/* Adds the pair or replaces the key's value. */
void hashmap_put(struct hashmap *m, uint64_t key, uint32_t value);

uint64_t hash_bytes(const void *p, uint64_t n, uint64_t seed);
