/* Makes a fragment: chooses how the probes of a function get into its code. */
#include <string.h>

#include "flow/entry.h"
#include "patch/pinned.h"
#include "patch/plan.h"

/* Upper limits for the code that emit_ops write, in bytes. */
enum {
	MOVED_MAX = 48, /* one instruction */
	JUMP_MAX = 24,  /* between blocks, or back */
	CONSTANT_MAX = 16,
	MATCH_MAX = 96, /* the compare for one edge of an indirect jump */
};

/* Whether the block is only a landing instruction, which cannot be replaced by a jump. */
static bool is_bare_landing(const struct fragment_request *r, uint32_t block)
{
	const struct block *b = &r->cfg->blocks[block];
	struct insn in;
	return decode_at(flow_module(r->flow), flow_arch(r->flow), b->start, DECODE_FLOW, &in) &&
	       in.flags & INSN_LANDING && in.length == b->size;
}

/* Whether displacing one instruction suffices for the spot, on an architecture where every
 * instruction has the size of a jump. */
static bool is_displaceable(const struct fragment_request *r, const struct spot *s)
{
	const struct cfg *g = r->cfg;
	uint32_t block = s->place == SPOT_ENTRY ? g->entry : cfg_block_at(g, s->va);
	struct insn in;
	if (s->place == SPOT_EDGE && s->edge < g->edge_count && is_external(&g->edges[s->edge]))
		block = g->edges[s->edge].to;
	else if (s->place == SPOT_BEFORE &&
		 decode_at(flow_module(r->flow), flow_arch(r->flow), s->va, DECODE_FLOW, &in) &&
		 in.kind == INSN_TRAP)
		return false;
	if (block >= g->block_count || is_bare_landing(r, block))
		return false;
	if (s->place != SPOT_ENTRY && block == cfg_block_at(g, s->va))
		return true;
	uint32_t predecessors = g->first_pred[block + 1] - g->first_pred[block];
	for (uint32_t i = g->first_pred[block]; i < g->first_pred[block + 1]; i++) {
		const struct edge *e = &g->edges[g->pred_edges[i]];
		if (block == g->entry || !is_external(e) ||
		    (e->kind == EDGE_SWITCH && predecessors > 1))
			return false;
	}
	return true;
}

static bool may_relocate(const struct fragment_request *r)
{
	const struct arch *arch = flow_arch(r->flow);
	if (r->relocate || r->shadow_stack || arch->emit->jump_size > arch->insn_align)
		return true;
	for (uint32_t i = 0; i < r->count; i++)
		if (!is_displaceable(r, &r->probes[i].spot))
			return true;
	return false;
}

static uint64_t count_switch_edges(const struct cfg *g)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < g->edge_count; i++)
		count += g->edges[i].kind == EDGE_SWITCH;
	return count;
}

uint32_t fragment_bound(const struct fragment_request *r)
{
	const struct cfg *g = r->cfg;
	uint64_t insn = MOVED_MAX + CONSTANT_MAX;
	uint64_t bound = CONSTANT_MAX; /* for the alignment of constants */
	for (uint32_t i = 0; i < r->count; i++) {
		struct emit_probe code = r->probes[i].code;
		code.poison = r->poison;
		bound += emit_probe_bound(&code) + 3 * JUMP_MAX;
	}
	if (may_relocate(r))
		bound += g->insn_count * insn + (uint64_t)g->block_count * 3 * JUMP_MAX +
			 count_switch_edges(g) * MATCH_MAX;
	else
		bound += r->count * insn;
	return bound < UINT32_MAX / 2 ? (uint32_t)bound : UINT32_MAX / 2;
}

static void init(struct plan *p, struct fragment *out, struct fragment_request *r,
		 struct arena *tmp)
{
	uint32_t blocks = r->cfg->block_count;
	*p = (struct plan){
		.r = r,
		.out = out,
		.g = r->cfg,
		.arch = flow_arch(r->flow),
		.module = flow_module(r->flow),
		.tmp = tmp,
		.bodies = ARENA_ARRAY(tmp, struct body *, blocks),
		.overlaps = ARENA_ARRAY(tmp, bool, blocks),
		.first = ARENA_ARRAY(tmp, uint32_t, blocks + 1),
		.dispatched = ARENA_ARRAY(tmp, bool, r->cfg->edge_count),
		.dispatches = ARENA_ARRAY(tmp, uint8_t, blocks),
	};
	p->ops = p->arch->emit;
	p->extent = fragment_bound(r);
}

static void choose_mechanism(struct plan *p)
{
	bool whole_insns = p->ops->jump_size <= p->arch->insn_align;
	enum refusal why;
	begin(p);
	if (!p->r->relocate && (displace(p, DISPLACE_CLEANLY, REFUSED_NONE) ||
				(whole_insns && displace(p, DISPLACE_CALLS, REFUSED_NONE))))
		return;
	why = relocate(p);
	if (why == REFUSED_NONE)
		return;
	begin(p);
	displace(p, DISPLACE_ANYHOW, why);
}

/* Unwinders, our runtime among them, recognise the code that a signal handler returns to by its
 * bytes, so it must not be changed. */
static bool is_trampoline(const struct plan *p)
{
	const struct arch_layout *layout = p->arch->layout;
	const struct cfg *g = p->g;
	size_t have;
	const uint8_t *bytes = g->entry < g->block_count
				       ? module_at(p->module, g->blocks[g->entry].start,
						   layout->sigreturn_size, &have)
				       : NULL;
	return bytes && have >= layout->sigreturn_size &&
	       !memcmp(bytes, layout->sigreturn, layout->sigreturn_size);
}

static bool has_pinned(const struct plan *p)
{
	const struct cfg *g = p->g;
	return has_restartable(p->module, g) ||
	       (g->entry < g->block_count &&
		is_pinned(p->module, p->arch, g->blocks[g->entry].start));
}

bool fragment_make(struct fragment *out, struct fragment_request *r, struct arena *tmp)
{
	struct plan p;
	*out = (struct fragment){0};
	init(&p, out, r, tmp);
	if (p.module->changes_text)
		refuse_all(&p, REFUSED_RELOCATED);
	else if (is_trampoline(&p))
		refuse_all(&p, REFUSED_TRAMPOLINE);
	else if (has_pinned(&p))
		refuse_all(&p, REFUSED_PINNED);
	else
		resolve_probes(&p);
	bool any = p.attachment_count > 0;
	if (any)
		choose_mechanism(&p);
	any = false;
	for (uint32_t i = 0; i < r->count; i++)
		any |= r->probes[i].refused == REFUSED_NONE;
	if (any) {
		vec_trim(&p.e.bytes);
		vec_trim(&out->patches);
		moved_table_init(&out->moved, p.moved.data, p.moved.len, tmp);
		placed_table_init(&out->probes, p.placed.data, p.placed.len, tmp);
		out->code = p.e.bytes.data;
		out->size = p.e.bytes.len;
		out->rare = p.e.rare;
		p.e.bytes.data = NULL;
	} else {
		fragment_release(out);
	}
	vec_free(&p.moved);
	vec_free(&p.placed);
	emit_release(&p.e);
	release_unknown(&p);
	return any;
}
