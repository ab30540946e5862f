#include "patch/pool.h"

#include <string.h>

enum { ALIGNMENT = 16 };

static uint64_t rounded(uint64_t size)
{
	return (size + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
}

void pool_release(struct pool *p)
{
	vec_each (r, &p->regions)
		vec_free(&r->free);
	vec_free(&p->regions);
}

/* Whether jumps between all of [low, high) and all of [start, end) are at most `reach` long. */
static bool in_reach(uint64_t low, uint64_t high, uint64_t start, uint64_t end, uint64_t reach)
{
	return (end <= low || end - low <= reach) && (high <= start || high - start <= reach);
}

/* Finds the lowest place in the piece that is within reach. */
static bool fits_in(const struct pool_piece *piece, uint64_t low, uint64_t high, uint64_t reach,
		    uint64_t size, uint64_t *out)
{
	uint64_t least = high > reach ? rounded(high - reach) : 0;
	*out = piece->start > least ? piece->start : least;
	return *out < piece->end && piece->end - *out >= size &&
	       in_reach(low, high, *out, *out + size, reach);
}

static void cut(struct pool_region *r, uint32_t i, uint64_t start, uint64_t end)
{
	struct pool_piece whole = r->free.data[i];
	struct pool_piece rest[] = {{whole.start, start}, {end, whole.end}};
	uint32_t first = rest[0].start == rest[0].end, last = rest[1].start < rest[1].end ? 2 : 1;
	uint32_t left = last - first;
	vec_reserve(&r->free, r->free.len + 1);
	memmove(&r->free.data[i + left], &r->free.data[i + 1],
		(r->free.len - i - 1) * sizeof(*r->free.data));
	memcpy(&r->free.data[i], &rest[first], left * sizeof(*rest));
	r->free.len = r->free.len - 1 + left;
}

bool pool_take(struct pool *p, uint64_t low, uint64_t high, uint64_t reach, uint64_t size,
	       uint64_t *out)
{
	uint64_t at;
	size = rounded(size ? size : 1);
	vec_each (r, &p->regions) {
		for (uint32_t i = 0; i < r->free.len; i++) {
			if (!fits_in(&r->free.data[i], low, high, reach, size, &at))
				continue;
			cut(r, i, at, at + size);
			*out = at;
			return true;
		}
	}
	return false;
}

static void give_to(struct pool_region *r, struct pool_piece piece)
{
	uint32_t i = 0;
	while (i < r->free.len && r->free.data[i].end < piece.start)
		i++;
	/* Pieces that touch it are merged with it. */
	uint32_t touching = 0;
	for (; i + touching < r->free.len && r->free.data[i + touching].start <= piece.end;
	     touching++) {
		const struct pool_piece *t = &r->free.data[i + touching];
		piece.start = t->start < piece.start ? t->start : piece.start;
		piece.end = t->end > piece.end ? t->end : piece.end;
	}
	vec_reserve(&r->free, r->free.len + 1);
	memmove(&r->free.data[i + 1], &r->free.data[i + touching],
		(r->free.len - i - touching) * sizeof(*r->free.data));
	r->free.data[i] = piece;
	r->free.len = r->free.len + 1 - touching;
}

void pool_give(struct pool *p, uint64_t start, uint64_t size)
{
	vec_each (r, &p->regions)
		if (start >= r->start && start < r->end)
			give_to(r, (struct pool_piece){start, start + rounded(size ? size : 1)});
}

void pool_add(struct pool *p, uint64_t start, uint64_t size)
{
	struct pool_piece piece = {start, start + size};
	struct pool_region fresh = {.start = start, .end = piece.end};
	vec_each (r, &p->regions) {
		if (r->end == start) {
			r->end = piece.end;
			give_to(r, piece);
			return;
		}
	}
	vec_push(&fresh.free, piece);
	vec_push(&p->regions, fresh);
}
