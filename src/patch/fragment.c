#include "patch/fragment.h"

#include <stdlib.h>

#include "base/order.h"

void fragment_release(struct fragment *f)
{
	free(f->code);
	vec_free(&f->patches);
	vec_free(&f->moved);
	vec_free(&f->probes);
	*f = (struct fragment){0};
}

bool fragment_probe_around(const struct fragment *f, uint32_t offset, struct placed_probe *out)
{
	vec_each (p, &f->probes)
		if (offset - p->offset < p->size) {
			*out = *p;
			return true;
		}
	*out = (struct placed_probe){.offset = f->rare, .size = f->size - f->rare};
	return offset - out->offset < out->size;
}

static const struct moved *moved_from(const struct fragment *f, uint32_t offset)
{
	uint32_t low = 0, high = f->moved.len;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (f->moved.data[mid].arrival <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &f->moved.data[low - 1] : NULL;
}

/* In relocated code, a thread at the start of the probes before an instruction may already have run
 * those for control from outside: then neither none nor all of them were executed. */
bool fragment_original(const struct fragment *f, uint32_t offset, struct thread_place *out)
{
	const struct moved *m = moved_from(f, offset);
	if (!m)
		return false;
	*out = (struct thread_place){m->va, true};
	if (offset == m->offset)
		return true;
	if (offset == m->arrival) {
		out->probed = false;
		return f->mechanism != MECHANISM_RELOCATED;
	}
	*out = (struct thread_place){m->va + m->length, false};
	return m->syscall && offset == m->offset + m->size;
}

bool fragment_nearest(const struct fragment *f, uint32_t offset, uint64_t *va)
{
	const struct moved *m = offset < f->rare ? moved_from(f, offset) : NULL;
	if (!f->moved.len)
		return false;
	*va = m ? m->va : f->moved.data[0].va;
	return true;
}

static const struct moved *find_moved(const struct fragment *f, uint64_t va)
{
	uint32_t n = ORDER_UP_TO(f->moved.data, f->moved.len, va, va);
	return n && f->moved.data[n - 1].va == va ? &f->moved.data[n - 1] : NULL;
}

bool fragment_probed(const struct fragment *f, uint64_t va)
{
	const struct moved *m = find_moved(f, va);
	return m && m->in_place && m->arrival != m->offset;
}

/* Whether a patch begins at the original of this instruction, or after it if it is a landing
 * instruction. */
static bool leads_to_patch(const struct fragment *f, const struct moved *m)
{
	const struct moved *end = f->moved.data + f->moved.len;
	while (m + 1 < end && m->landing && m[1].va == m->va + m->length)
		m++;
	for (uint32_t i = 0; i < f->patches.len; i++)
		if (f->patches.data[i].va == m->va)
			return true;
	return false;
}

bool fragment_moved(const struct fragment *f, const struct thread_place *at, uint32_t *offset)
{
	const struct moved *m = find_moved(f, at->va);
	if (!m)
		return false;
	*offset = at->probed ? m->offset : m->arrival;
	if (m->in_place && *offset == m->offset)
		return false;
	return at->probed || !leads_to_patch(f, m);
}
