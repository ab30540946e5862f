#include "patch/fragment.h"

#include <string.h>

#include "base/order.h"
#include "flow/entry.h"
#include "patch/pinned.h"
#include "patch/plan.h"

/* Upper limits for what emit_ops write, in bytes. */
enum {
	MOVED_MAX = 48, /* one instruction */
	JUMP_MAX = 24,  /* between blocks, or back */
	CONSTANT_MAX = 16,
	MATCH_MAX = 96,
};

static bool is_attached(const struct attachment *a, enum where where, uint32_t gap)
{
	bool any_gap = where == AT_ARRIVAL || where == AT_TAKEN;
	return a->where == where && (any_gap || a->gap == gap);
}

void emit_probes(struct plan *p, uint32_t block, enum where where, uint32_t gap)
{
	for (uint32_t i = p->first[block]; i < p->first[block + 1]; i++) {
		const struct attachment *a = &p->attachments[i];
		uint32_t offset = p->e.bytes.len;
		if (!is_attached(a, where, gap))
			continue;
		p->ops->probe(&p->e, &p->r->probes[a->probe].code);
		vec_push(&p->out->probes,
			 (struct placed_probe){a->probe, offset, p->e.bytes.len - offset});
	}
}

bool has_probes(const struct plan *p, uint32_t block, enum where where, uint32_t gap)
{
	for (uint32_t i = p->first[block]; i < p->first[block + 1]; i++) {
		if (is_attached(&p->attachments[i], where, gap))
			return true;
	}
	return false;
}

void note_moved(struct plan *p, const struct insn *in, uint32_t arrival, uint32_t offset,
		bool in_place)
{
	vec_push(&p->out->moved, (struct moved){
					 .va = in->pc - p->r->bias,
					 .arrival = arrival,
					 .offset = offset,
					 .size = p->e.bytes.len - offset,
					 .length = in->length,
					 .syscall = in->kind == INSN_SYSCALL && !in_place,
					 .landing = in->flags & INSN_LANDING,
					 .in_place = in_place,
				 });
}

void add_patch(struct plan *p, const struct patch *patch)
{
	vec_push(&p->out->patches, *patch);
}

bool original_bytes(const struct plan *p, uint64_t va, uint8_t *out, size_t size)
{
	size_t have;
	const uint8_t *bytes = image_at(p->image, va, &have);
	if (!bytes || have < size)
		return false;
	memcpy(out, bytes, size);
	return true;
}

void refuse_all(struct plan *p, enum refusal why)
{
	for (uint32_t i = 0; i < p->r->count; i++)
		if (p->r->probes[i].refused == REFUSED_NONE)
			p->r->probes[i].refused = (uint8_t)why;
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
		.image = flow_image(r->flow),
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

void begin(struct plan *p)
{
	emit_release(&p->e);
	emit_init(&p->e, p->arch, p->r->address);
	p->e.extent = p->extent;
	vec_clear(&p->out->patches);
	vec_clear(&p->out->moved);
	vec_clear(&p->out->probes);
	p->out->mechanism = MECHANISM_NONE;
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

/* Unwinders know where a signal handler returns to by its bytes, and so does our runtime. */
static bool is_trampoline(const struct plan *p)
{
	const struct arch_layout *layout = p->arch->layout;
	const struct cfg *g = p->g;
	size_t have;
	const uint8_t *bytes = g->entry < g->block_count
				       ? image_at(p->image, g->blocks[g->entry].start, &have)
				       : NULL;
	return bytes && have >= layout->sigreturn_size &&
	       !memcmp(bytes, layout->sigreturn, layout->sigreturn_size);
}

static bool has_pinned(const struct plan *p)
{
	const struct cfg *g = p->g;
	return has_restartable(p->image, g) ||
	       (g->entry < g->block_count &&
		is_pinned(p->image, p->arch, g->blocks[g->entry].start));
}

bool fragment_make(struct fragment *out, struct fragment_request *r, struct arena *tmp)
{
	struct plan p;
	*out = (struct fragment){0};
	init(&p, out, r, tmp);
	if (p.image->changes_text)
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
		vec_trim(&out->moved);
		vec_trim(&out->probes);
		out->code = p.e.bytes.data;
		out->size = p.e.bytes.len;
		out->rare = p.e.rare;
		p.e.bytes.data = NULL;
	} else {
		fragment_release(out);
	}
	emit_release(&p.e);
	release_unknown(&p);
	return any;
}

void fragment_release(struct fragment *f)
{
	free(f->code);
	vec_free(&f->patches);
	vec_free(&f->moved);
	vec_free(&f->probes);
	*f = (struct fragment){0};
}

/* Whether the block is nothing but a landing instruction, which cannot give way to a jump. */
static bool is_bare_landing(const struct fragment_request *r, uint32_t block)
{
	const struct block *b = &r->cfg->blocks[block];
	struct insn in;
	return decode_at(flow_image(r->flow), flow_arch(r->flow), b->start, DECODE_FLOW, &in) &&
	       in.flags & INSN_LANDING && in.length == b->size;
}

/* Whether displacing one instruction does for the spot, where all have the size of a jump. */
static bool is_easy(const struct fragment_request *r, const struct spot *s)
{
	const struct cfg *g = r->cfg;
	uint32_t block = s->place == SPOT_ENTRY ? g->entry : cfg_block_at(g, s->va);
	struct insn in;
	if (s->place == SPOT_EDGE && s->edge < g->edge_count && is_external(&g->edges[s->edge]))
		block = g->edges[s->edge].to;
	else if (s->place == SPOT_BEFORE &&
		 decode_at(flow_image(r->flow), flow_arch(r->flow), s->va, DECODE_FLOW, &in) &&
		 in.kind == INSN_TRAP)
		return false;
	if (block >= g->block_count || is_bare_landing(r, block))
		return false;
	if (s->place != SPOT_ENTRY && block == cfg_block_at(g, s->va))
		return true;
	uint32_t ways = g->first_pred[block + 1] - g->first_pred[block];
	for (uint32_t i = g->first_pred[block]; i < g->first_pred[block + 1]; i++) {
		const struct edge *e = &g->edges[g->pred_edges[i]];
		if (block == g->entry || !is_external(e) || (e->kind == EDGE_SWITCH && ways > 1))
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
		if (!is_easy(r, &r->probes[i].spot))
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
	uint64_t bound = CONSTANT_MAX; /* their alignment */
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

/* Where relocated code is about to run the probes before an instruction, those for control that
 * comes from outside may have run already: neither none nor all. */
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

/* Whether a patch begins at the original of this instruction, or behind it if it is a landing
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
