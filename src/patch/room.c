/* Room for patches: the padding between blocks, and the ends of pages. */
#include "flow/entry.h"
#include "patch/plan.h"

/* Whether the byte belongs to no code. Padding of another function must not be used: it may be a
 * patchable entry. */
static bool is_unused(const struct plan *p, uint64_t va)
{
	uint32_t owner = flow_function_at(p->r->flow, va);
	return (owner == UINT32_MAX || owner == p->r->function) &&
	       cfg_block_at(p->g, va) == BLOCK_NONE && !is_unknown_code(p, va);
}

uint32_t padding_after(const struct plan *p, uint64_t va, uint32_t most)
{
	uint64_t at = va;
	while (at < va + most && is_unused(p, at)) {
		struct insn in;
		size_t n = decode_at(p->module, p->arch, at, DECODE_FLOW, &in);
		bool filling = n && (in.flags & INSN_NOP ||
				     (in.kind == INSN_TRAP && n == p->arch->insn_align));
		if (!filling)
			break;
		at += n;
	}
	while (at > va && !is_unused(p, at - 1))
		at--;
	return at - va < most ? (uint32_t)(at - va) : most;
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
