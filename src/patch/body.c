#include "base/order.h"
#include "flow/entry.h"
#include "patch/plan.h"

enum { PAGE = 4096 };

static bool decode_block(struct plan *p, const struct block *block, struct body *b)
{
	size_t have;
	b->bytes = image_at(p->image, block->start, &have);
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
	case END_TAIL_CALL: /* a conditional one, or control runs into the other procedure */
		return block->flags & BLOCK_CONDITIONAL ||
		       !insn_ends_block(&b->insns[b->count - 1]);
	default: return false;
	}
}

/* Padding of another procedure is not ours: it may be a patchable entry. */
static bool is_nobodys(const struct plan *p, uint64_t va)
{
	uint32_t owner = flow_procedure_at(p->r->flow, va);
	return (owner == UINT32_MAX || owner == p->r->procedure) &&
	       cfg_block_at(p->g, va) == BLOCK_NONE && !is_unknown_code(p, va);
}

uint32_t padding_behind(const struct plan *p, uint64_t va, uint32_t most)
{
	uint64_t at = va;
	while (at < va + most && is_nobodys(p, at)) {
		struct insn in;
		size_t n = decode_at(p->image, p->arch, at, DECODE_FLOW, &in);
		bool filling = n && (in.flags & INSN_NOP ||
				     (in.kind == INSN_TRAP && n == p->arch->insn_align));
		if (!filling)
			break;
		at += n;
	}
	while (at > va && !is_nobodys(p, at - 1))
		at--;
	return at - va < most ? (uint32_t)(at - va) : most;
}

bool in_one_page(const struct plan *p, uint64_t va, uint32_t size)
{
	uint64_t pc = va + p->r->bias;
	return pc / PAGE == (pc + size - 1) / PAGE;
}

static bool is_returned_to(const struct plan *p, uint32_t block)
{
	const struct cfg *g = p->g;
	bool returned = false;
	if (block == g->entry || g->blocks[block].flags & BLOCK_LANDING)
		return false;
	for (uint32_t i = g->first_pred[block]; i < g->first_pred[block + 1]; i++)
		returned |= g->edges[g->pred_edges[i]].kind == EDGE_CALL_RETURN;
	return returned && !is_intruded(p, g->blocks[block].start, g->blocks[block].start + 1);
}

static bool may_run_first(const struct plan *p, const struct insn *in)
{
	return in->kind == INSN_PLAIN && !regset_has(&in->writes, p->arch->sp);
}

void keep_at_page_ends(struct plan *p)
{
	uint32_t least = p->ops->short_jump_size;
	for (uint32_t i = 0; least && i < p->g->block_count; i++) {
		uint64_t start = p->g->blocks[i].start;
		if (in_one_page(p, start, least) || !is_returned_to(p, i) || !body_of(p, i))
			continue;
		struct body *b = p->bodies[i];
		if (b->landing || b->count == 1 || !may_run_first(p, &b->insns[0]) ||
		    liveness_in_exclusive(p->r->live, i, start + b->insns[0].length))
			continue;
		b->insns[0].flags |= INSN_LANDING;
		b->landing = 1;
	}
}

struct regset live_behind_landing(const struct plan *p, uint32_t block)
{
	const struct body *b = p->bodies[block];
	uint64_t va = body_va(p, &p->g->blocks[block], b, b->landing);
	if (!b->landing)
		return p->r->live->at_start[block];
	return liveness_before(p->r->live, block, va);
}
