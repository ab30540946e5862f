/* Which code was split off a procedure, told by the jumps that lead there. */
#include "base/order.h"
#include "flow/entry.h"
#include "flow/internal.h"

void append_part(struct arena *a, struct proc *p, struct part part)
{
	struct part *parts = ARENA_ARRAY(a, struct part, p->part_count + 1);
	for (uint32_t i = 0; i < p->part_count; i++)
		parts[i] = p->parts[i];
	parts[p->part_count++] = part;
	p->parts = parts;
}

void add_part(struct flow *f, struct proc *p, uint64_t start, uint64_t end)
{
	append_part(&f->arena, p, (struct part){start, end});
	p->dirty = true;
}

struct fragment *fragment_at(const struct flow *f, uint64_t va)
{
	uint32_t n = ORDER_UP_TO(f->fragments.data, f->fragments.len, start, va);
	return n && va < f->fragments.data[n - 1].end ? &f->fragments.data[n - 1] : NULL;
}

/* The end of the code without owner around va. */
static uint64_t end_of_unowned(const struct flow *f, uint64_t va)
{
	const struct section *s = image_section_at(f->im, va);
	uint64_t end = s->va + s->size;
	uint32_t n = ORDER_UP_TO(f->procs.data, f->procs.len, start, va);
	return n < f->procs.len && f->procs.data[n].start < end ? f->procs.data[n].start : end;
}

/* An instruction that the linker has moved away, with a jump there and one back: some processors
 * must not have it where it was (Cortex-A53, erratum 843419). */
static bool is_detour(const struct flow *f, const struct block *b, struct part *out)
{
	struct insn moved, back;
	uint64_t to = b->target;
	size_t n = decode_at(f->im, f->arch, to, DECODE_FLOW, &moved);
	if (!n || moved.kind != INSN_PLAIN ||
	    !decode_at(f->im, f->arch, to + n, DECODE_FLOW, &back) || back.kind != INSN_JUMP ||
	    back.target != b->start + b->size)
		return false;
	*out = (struct part){to, to + n + back.length};
	return true;
}

bool part_of_jump(const struct flow *f, const struct block *b, struct part *out)
{
	uint64_t to = b->target;
	const struct fragment *x = fragment_at(f, to);
	if (is_detour(f, b, out))
		return true;
	if (x) {
		*out = (struct part){x->start, x->end};
		return !x->taken;
	}
	if (proc_at(f, to) != UINT32_MAX || !image_is_code(f->im, to))
		return false;
	*out = (struct part){to, end_of_unowned(f, to)};
	return b->flags & (BLOCK_OPEN_FRAME | BLOCK_CONDITIONAL) ||
	       !looks_like_entry(f->im, f->arch, to);
}

static bool has_part(const struct proc *p, uint64_t va)
{
	for (uint32_t i = 0; i < p->part_count; i++)
		if (va >= p->parts[i].start && va < p->parts[i].end)
			return true;
	return false;
}

/* The fragment at va, if p could own it. */
static bool open_fragment(const struct flow *f, const struct proc *p, uint64_t va, struct part *out)
{
	const struct fragment *x = fragment_at(f, va);
	if (!x || x->taken || has_part(p, va))
		return false;
	*out = (struct part){x->start, x->end};
	return true;
}

bool find_part(const struct flow *f, const struct proc *p, const struct cfg *g, struct part *out)
{
	for (uint32_t i = 0; i < g->block_count; i++) {
		const struct block *b = &g->blocks[i];
		if (b->end == END_TAIL_CALL && b->target && !has_part(p, b->target) &&
		    part_of_jump(f, b, out))
			return true;
	}
	for (uint32_t i = 0; i < g->escape_count; i++)
		if (open_fragment(f, p, g->escapes[i], out))
			return true;
	const struct landing *all = f->im->landings;
	uint32_t i = ORDER_UP_TO(all, f->im->landing_count, start, p->start - 1);
	for (; i < f->im->landing_count && all[i].start < p->end; i++)
		if (open_fragment(f, p, all[i].pad, out))
			return true;
	return false;
}
