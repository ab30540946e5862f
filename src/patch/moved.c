#include "patch/moved.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/varint.h"

enum { MOVED_STEP = 64 };

/* The first instruction from which reading can begin, and where that is in the bytes. */
struct moved_mark {
	uint64_t va;
	uint32_t arrival;
	uint32_t at;
};

/* An instruction's first byte: what it is, and which numbers follow because they are not what they
 * mostly are. */
enum {
	IS_SYSCALL = 1 << 0,
	IS_LANDING = 1 << 1,
	IS_IN_PLACE = 1 << 2,
	HAS_LENGTH = 1 << 3,  /* its length is not that of the last one */
	HAS_VA = 1 << 4,      /* its original does not follow that of the last one */
	HAS_ARRIVAL = 1 << 5, /* it does not follow the last one in the fragment */
	HAS_PROBES = 1 << 6,
	HAS_SIZE = 1 << 7, /* its size is not its length */
	NUMBERS = 5,
};

/* What an instruction with nothing special about it would be after `m`. */
static struct moved after(const struct moved *m)
{
	return (struct moved){
		.va = m->va + m->length, .arrival = m->offset + m->size, .length = m->length};
}

static uint8_t *pack(uint8_t *at, const struct moved *m, const struct moved *usual)
{
	bool length = m->length != usual->length, va = m->va != usual->va,
	     arrival = m->arrival != usual->arrival, probes = m->offset != m->arrival,
	     size = m->size != m->length;
	*at++ = (uint8_t)((m->syscall ? IS_SYSCALL : 0) | (m->landing ? IS_LANDING : 0) |
			  (m->in_place ? IS_IN_PLACE : 0) | (length ? HAS_LENGTH : 0) |
			  (va ? HAS_VA : 0) | (arrival ? HAS_ARRIVAL : 0) |
			  (probes ? HAS_PROBES : 0) | (size ? HAS_SIZE : 0));
	if (length)
		at = varint_put(at, m->length);
	if (va)
		at = varint_put(at, varint_fold(m->va - usual->va));
	if (arrival)
		at = varint_put(at, m->arrival - usual->arrival);
	if (probes)
		at = varint_put(at, m->offset - m->arrival);
	if (size)
		at = varint_put(at, m->size);
	return at;
}

static void unpack(const uint8_t **at, const struct moved *usual, struct moved *out)
{
	uint8_t is = *(*at)++;
	*out = *usual;
	out->syscall = is & IS_SYSCALL;
	out->landing = is & IS_LANDING;
	out->in_place = is & IS_IN_PLACE;
	if (is & HAS_LENGTH)
		out->length = (uint8_t)varint_get(at);
	if (is & HAS_VA)
		out->va += varint_unfold(varint_get(at));
	if (is & HAS_ARRIVAL)
		out->arrival += (uint32_t)varint_get(at);
	out->offset = out->arrival + (is & HAS_PROBES ? (uint32_t)varint_get(at) : 0);
	out->size = is & HAS_SIZE ? (uint32_t)varint_get(at) : out->length;
}

/* What the first instruction after a mark is compared with. */
static struct moved usual_at(const struct moved_mark *k)
{
	return (struct moved){.va = k->va, .arrival = k->arrival};
}

static uint32_t mark_count(uint32_t count)
{
	return (count + MOVED_STEP - 1) / MOVED_STEP;
}

void moved_table_init(struct moved_table *t, const struct moved *list, uint32_t count,
		      struct arena *tmp)
{
	*t = (struct moved_table){.count = count};
	if (!count)
		return;
	uint8_t *bytes = arena_alloc(tmp, (size_t)count * (1 + NUMBERS * VARINT_MAX), 1);
	uint8_t *at = bytes;
	struct moved usual = {0};
	t->marks = xmalloc(mark_count(count) * sizeof(*t->marks));
	for (uint32_t i = 0; i < count; i++) {
		if (i % MOVED_STEP == 0) {
			struct moved_mark *k = &t->marks[i / MOVED_STEP];
			*k = (struct moved_mark){list[i].va, list[i].arrival,
						 (uint32_t)(at - bytes)};
			usual = usual_at(k);
		}
		at = pack(at, &list[i], &usual);
		usual = after(&list[i]);
	}
	t->size = (uint32_t)(at - bytes);
	t->bytes = memcpy(xmalloc(t->size), bytes, t->size);
}

void moved_table_copy(struct moved_table *to, const struct moved_table *from)
{
	*to = *from;
	if (!from->count)
		return;
	size_t marks = mark_count(from->count) * sizeof(*to->marks);
	to->marks = memcpy(xmalloc(marks), from->marks, marks);
	to->bytes = memcpy(xmalloc(from->size), from->bytes, from->size);
}

void moved_table_release(struct moved_table *t)
{
	free(t->marks);
	free(t->bytes);
	*t = (struct moved_table){0};
}

static void start_at(struct moved_reader *r, const struct moved_table *t, uint32_t mark)
{
	*r = (struct moved_reader){.table = t, .next = mark * MOVED_STEP};
	if (r->next < t->count)
		r->at = t->bytes + t->marks[mark].at;
}

void moved_open(struct moved_reader *r, const struct moved_table *t)
{
	start_at(r, t, 0);
}

bool moved_next(struct moved_reader *r, struct moved *out)
{
	const struct moved_table *t = r->table;
	if (r->next >= t->count)
		return false;
	if (r->next % MOVED_STEP == 0)
		r->after = usual_at(&t->marks[r->next / MOVED_STEP]);
	unpack(&r->at, &r->after, out);
	r->after = after(out);
	r->next++;
	return true;
}

/* Reads from a mark to the last instruction that is neither after va nor after the offset; one of
 * them is the greatest number. */
static bool find(struct moved_reader *r, const struct moved_table *t, uint64_t va, uint64_t offset,
		 struct moved *out)
{
	uint32_t low = 0, high = mark_count(t->count);
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct moved_mark *k = &t->marks[middle];
		if (k->va <= va && k->arrival <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	struct moved_reader ahead;
	struct moved m;
	start_at(&ahead, t, low - 1);
	while (moved_next(&ahead, &m) && m.va <= va && m.arrival <= offset) {
		*out = m;
		*r = ahead;
	}
	return true;
}

bool moved_find_offset(struct moved_reader *r, const struct moved_table *t, uint32_t offset,
		       struct moved *out)
{
	return find(r, t, UINT64_MAX, offset, out);
}

bool moved_find_va(struct moved_reader *r, const struct moved_table *t, uint64_t va,
		   struct moved *out)
{
	return find(r, t, va, UINT64_MAX, out);
}
