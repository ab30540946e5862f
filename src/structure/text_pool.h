/* Strings without duplicates, numbered in the order of their first appearance; number 0 is "". */
#pragma once
#include "base/hashmap.h"
#include "base/vec.h"

struct text_pool {
	VEC(char) bytes;
	VEC(uint32_t) starts; /* where each string starts in `bytes` */
	struct hashmap numbers;
};

void text_pool_init(struct text_pool *p);
void text_pool_release(struct text_pool *p);
/* Removes all strings but "". */
void text_pool_clear(struct text_pool *p);
/* The number of s; 0 for NULL, or if the pool would become too large for 32-bit offsets. */
uint32_t text_pool_add(struct text_pool *p, const char *s);

static inline const char *text_pool_get(const struct text_pool *p, uint32_t number)
{
	return p->bytes.data + p->starts.data[number];
}
