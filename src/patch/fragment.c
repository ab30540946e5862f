#include "patch/fragment.h"

#include <stdlib.h>

void fragment_release(struct fragment *f)
{
	free(f->code);
	vec_free(&f->patches);
	moved_table_release(&f->moved);
	placed_table_release(&f->probes);
	*f = (struct fragment){0};
}

bool fragment_probe_around(const struct fragment *f, uint32_t offset, struct placed_probe *out)
{
	struct placed_reader r;
	placed_open(&r, &f->probes);
	while (placed_next(&r, out))
		if (offset - out->offset < out->size)
			return true;
	*out = (struct placed_probe){.offset = f->rare, .size = f->size - f->rare};
	return offset - out->offset < out->size;
}

/* In relocated code, a thread at the start of the probes before an instruction may already have run
 * those for control from outside: then neither none nor all of them were executed. */
bool fragment_original(const struct fragment *f, uint32_t offset, struct thread_place *out)
{
	struct moved_reader r;
	struct moved m;
	if (!moved_find_offset(&r, &f->moved, offset, &m))
		return false;
	*out = (struct thread_place){m.va, true};
	if (offset == m.offset)
		return true;
	if (offset == m.arrival) {
		out->probed = false;
		return f->mechanism != MECHANISM_RELOCATED;
	}
	*out = (struct thread_place){m.va + m.length, false};
	return m.syscall && offset == m.offset + m.size;
}

bool fragment_nearest(const struct fragment *f, uint32_t offset, uint64_t *va)
{
	struct moved_reader r;
	struct moved m;
	if (offset >= f->rare || !moved_find_offset(&r, &f->moved, offset, &m)) {
		moved_open(&r, &f->moved);
		if (!moved_next(&r, &m))
			return false;
	}
	*va = m.va;
	return true;
}

static bool find_moved(struct moved_reader *r, const struct fragment *f, uint64_t va,
		       struct moved *out)
{
	return moved_find_va(r, &f->moved, va, out) && out->va == va;
}

bool fragment_probed(const struct fragment *f, uint64_t va)
{
	struct moved_reader r;
	struct moved m;
	return find_moved(&r, f, va, &m) && m.in_place && m.arrival != m.offset;
}

/* Whether a patch begins at the original of this instruction, or after it if it is a landing
 * instruction. Those after it are read from r. */
static bool leads_to_patch(const struct fragment *f, struct moved m, struct moved_reader *r)
{
	struct moved next;
	while (m.landing && moved_next(r, &next) && next.va == m.va + m.length)
		m = next;
	for (uint32_t i = 0; i < f->patches.len; i++)
		if (f->patches.data[i].va == m.va)
			return true;
	return false;
}

bool fragment_moved(const struct fragment *f, const struct thread_place *at, uint32_t *offset)
{
	struct moved_reader r;
	struct moved m;
	if (!find_moved(&r, f, at->va, &m))
		return false;
	*offset = at->probed ? m.offset : m.arrival;
	if (m.in_place && *offset == m.offset)
		return false;
	return at->probed || !leads_to_patch(f, m, &r);
}
