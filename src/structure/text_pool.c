#include "structure/text_pool.h"

#include <string.h>

enum { MAX_BYTES = 1 << 30 };

void text_pool_init(struct text_pool *p)
{
	*p = (struct text_pool){0};
	text_pool_add(p, "");
}

void text_pool_release(struct text_pool *p)
{
	vec_free(&p->bytes);
	vec_free(&p->starts);
	hashmap_release(&p->numbers);
}

void text_pool_clear(struct text_pool *p)
{
	vec_clear(&p->bytes);
	vec_clear(&p->starts);
	hashmap_clear(&p->numbers);
	text_pool_add(p, "");
}

struct wanted_text {
	const struct text_pool *pool;
	const char *text;
};

static bool is_wanted(const void *ctx, uint32_t number)
{
	const struct wanted_text *w = ctx;
	return !strcmp(text_pool_get(w->pool, number), w->text);
}

uint32_t text_pool_add(struct text_pool *p, const char *s)
{
	uint32_t len = s ? (uint32_t)strnlen(s, MAX_BYTES) : 0;
	if (!s || len >= MAX_BYTES - p->bytes.len)
		return 0;
	const struct wanted_text wanted = {p, s};
	uint64_t hash = hash_bytes(s, len, 0);
	uint32_t number = hashmap_find(&p->numbers, hash, is_wanted, &wanted);
	if (number != HASHMAP_NONE)
		return number;
	number = p->starts.len;
	vec_push(&p->starts, p->bytes.len);
	vec_append(&p->bytes, s, len + 1);
	hashmap_insert(&p->numbers, hash, number);
	return number;
}
