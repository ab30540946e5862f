/* Copies the records out of the rings. The copies are kept in lists until they are delivered. */
#include "base/alloc.h"
#include "sample/perf_rings.h"

void copies_append(struct ring_copies *to, struct ring_copies more)
{
	if (!more.first)
		return;
	*(to->last ? &to->last->next : &to->first) = more.first;
	to->last = more.last;
}

struct ring_copy *copies_take(struct ring_copies *from)
{
	struct ring_copy *first = from->first;
	if (first)
		from->first = first->next;
	if (!from->first)
		from->last = NULL;
	return first;
}

static struct ring_copy *copy_records(struct perf_rings *p, struct ring *whole)
{
	struct ring_copy *copy = xmalloc(sizeof(*copy) + (whole->head - whole->tail));
	struct record rec;
	*copy = (struct ring_copy){0};
	while (ring_next(whole, &rec)) {
		if (rec.type == PERF_RECORD_SAMPLE)
			presence_make(p->presence, &rec);
		copy->size += ring_copy_record(whole, &rec, (uint8_t *)copy->bytes + copy->size);
		ring_done(whole);
	}
	return xrealloc(copy, sizeof(*copy) + copy->size);
}

static bool copy_ring(struct perf_rings *p, struct cpu_ring *c)
{
	c->whole.head = __atomic_load_n(&c->page->data_head, __ATOMIC_ACQUIRE);
	bool some = c->whole.head != c->whole.tail;
	if (some) {
		struct ring_copy *copy = copy_records(p, &c->whole);
		copies_append(&c->copied, (struct ring_copies){copy, copy});
		__atomic_add_fetch(&p->held, copy->size, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&c->page->data_tail, c->whole.head, __ATOMIC_RELEASE);
	return some;
}

bool perf_rings_copy(struct perf_rings *p)
{
	bool some = false;
	for (unsigned i = 0; i < p->count; i++)
		some |= copy_ring(p, &p->rings[i]);
	return some;
}
