#include "patch/placed.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/varint.h"

enum { NUMBERS = 3 }; /* of a place */

void placed_table_init(struct placed_table *t, const struct placed_probe *list, uint32_t count,
		       struct arena *tmp)
{
	struct placed_probe last = {0};
	*t = (struct placed_table){.count = count};
	if (!count)
		return;
	uint8_t *bytes = arena_alloc(tmp, (size_t)count * NUMBERS * VARINT_MAX, 1), *at = bytes;
	for (uint32_t i = 0; i < count; i++) {
		const struct placed_probe *p = &list[i];
		at = varint_put(at, varint_fold((uint64_t)p->probe - last.probe));
		at = varint_put(at, p->offset - (last.offset + last.size));
		at = varint_put(at, p->size);
		last = *p;
	}
	t->size = (uint32_t)(at - bytes);
	t->bytes = memcpy(xmalloc(t->size), bytes, t->size);
}

void placed_table_copy(struct placed_table *to, const struct placed_table *from)
{
	*to = *from;
	if (from->count)
		to->bytes = memcpy(xmalloc(from->size), from->bytes, from->size);
}

void placed_table_release(struct placed_table *t)
{
	free(t->bytes);
	*t = (struct placed_table){0};
}

void placed_open(struct placed_reader *r, const struct placed_table *t)
{
	*r = (struct placed_reader){.at = t->bytes, .left = t->count};
}

bool placed_next(struct placed_reader *r, struct placed_probe *out)
{
	if (!r->left)
		return false;
	r->left--;
	out->probe = r->last.probe + (uint32_t)varint_unfold(varint_get(&r->at));
	out->offset = r->last.offset + r->last.size + (uint32_t)varint_get(&r->at);
	out->size = (uint32_t)varint_get(&r->at);
	r->last = *out;
	return true;
}
