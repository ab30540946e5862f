#include "structure/text_pool.h"

#include <string.h>

#include "base/hashmap.h"

enum { FIRST_SLOTS = 64, MAX_BYTES = 1 << 30 };

void text_pool_init(struct text_pool *p)
{
	*p = (struct text_pool){.slot_count = FIRST_SLOTS};
	p->slots = xcalloc(p->slot_count, sizeof(*p->slots));
	text_pool_add(p, "");
}

void text_pool_release(struct text_pool *p)
{
	vec_free(&p->bytes);
	vec_free(&p->starts);
	free(p->slots);
}

/* The slot that holds s, or the empty one where it belongs. */
static uint32_t slot_of(const struct text_pool *p, const char *s, size_t len)
{
	uint32_t mask = p->slot_count - 1, i = (uint32_t)hash_bytes(s, len, 0) & mask;
	while (p->slots[i] && strcmp(text_pool_get(p, p->slots[i] - 1), s) != 0)
		i = (i + 1) & mask;
	return i;
}

static void grow(struct text_pool *p)
{
	free(p->slots);
	p->slot_count *= 2;
	p->slots = xcalloc(p->slot_count, sizeof(*p->slots));
	for (uint32_t n = 0; n < p->starts.len; n++) {
		const char *s = text_pool_get(p, n);
		p->slots[slot_of(p, s, strlen(s))] = n + 1;
	}
}

uint32_t text_pool_add(struct text_pool *p, const char *s)
{
	size_t len = s ? strlen(s) : 0;
	if (!s || len >= MAX_BYTES - p->bytes.len)
		return 0;
	uint32_t at = slot_of(p, s, len);
	if (p->slots[at])
		return p->slots[at] - 1;

	uint32_t number = p->starts.len, size = (uint32_t)len + 1;
	vec_push(&p->starts, p->bytes.len);
	vec_reserve(&p->bytes, p->bytes.len + size);
	memcpy(p->bytes.data + p->bytes.len, s, size);
	p->bytes.len += size;
	p->slots[at] = number + 1;
	if (p->starts.len * 2 > p->slot_count)
		grow(p);
	return number;
}
