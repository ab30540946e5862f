#include "base/order.h"
#include "flow/entry.h"
#include "patch/plan.h"

enum { PAGE = 4096 };

static bool decode_block(struct plan *p, const struct block *block, struct body *b)
{
	size_t have;
	b->bytes = module_at(p->module, block->start, block->size, &have);
	if (!b->bytes || have < block->size)
		return false;
	b->insns = ARENA_ARRAY(p->tmp, struct insn, block->insn_count);
	uint32_t at = 0;
	for (; b->count < block->insn_count && at < block->size; b->count++) {
		struct insn *in = &b->insns[b->count];
		size_t n = p->arch->decode(b->bytes + at, block->size - at,
					   block->start + at + p->r->bias, DECODE_FULL, in);
		if (!n)
			return false;
		at += (uint32_t)n;
	}
	while (b->landing < b->count && b->insns[b->landing].flags & INSN_LANDING)
		b->landing++;
	return at == block->size && b->count;
}

const struct body *body_of(struct plan *p, uint32_t block)
{
	if (!p->bodies[block]) {
		struct body *b = ARENA_NEW(p->tmp, struct body);
		if (!decode_block(p, &p->g->blocks[block], b))
			return NULL;
		p->bodies[block] = b;
	}
	return p->bodies[block];
}

bool block_falls(const struct block *block, const struct body *b)
{
	switch (block->end) {
	case END_FALL:
	case END_BRANCH:
	case END_BAD: return true;
	case END_TAIL_CALL: /* conditional, or control falls through into the other function */
		return block->flags & BLOCK_CONDITIONAL ||
		       !insn_ends_block(&b->insns[b->count - 1]);
	default: return false;
	}
}

bool in_one_page(const struct plan *p, uint64_t va, uint32_t size)
{
	uint64_t pc = va + p->r->bias;
	return pc / PAGE == (pc + size - 1) / PAGE;
}

struct regset live_after_landing(const struct plan *p, uint32_t block)
{
	const struct body *b = p->bodies[block];
	uint64_t va = body_va(p, &p->g->blocks[block], b, b->landing);
	if (!b->landing)
		return p->r->live->at_start[block];
	return liveness_before(p->r->live, block, va);
}
