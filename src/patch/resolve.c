/* From spots to attachments: finds the instruction, or the arrival from outside, that carries a
 * probe.
 *
 * For the return edge of a call, an edge of an indirect jump or an exception, no code can be
 * changed that belongs to that edge alone. So its probes run where the edge arrives. This requires
 * that the other paths to that place have the same probes, or can be distinguished: jumps and
 * branches of the function itself, once it is relocated, bypass the springboard. */
#include "patch/plan.h"

#include <stdlib.h>

static void find_overlaps(struct plan *p)
{
	const struct cfg *g = p->g;
	uint64_t end = 0;
	uint32_t last = 0; /* the block that ends at `end` */
	for (uint32_t i = 0; i < g->block_count; i++) {
		const struct block *b = &g->blocks[i];
		if (i && b->start < end)
			p->overlaps[i] = p->overlaps[last] = true;
		if (b->start + b->size > end) {
			end = b->start + b->size;
			last = i;
		}
	}
}

/* The gap at va, which must be an instruction of the block; UINT32_MAX if it is not. If landing
 * instructions are there, the gap after them: they have no effect that a probe could notice, and
 * stay in place. The same holds for an instruction that is executed in place at the end of a
 * page. */
static uint32_t gap_at(struct plan *p, uint32_t block, uint64_t va)
{
	const struct body *b = body_of(p, block);
	for (uint32_t i = 0; b && i < b->count; i++)
		if (b->insns[i].pc == va + p->r->bias)
			return i < b->landing ? b->landing : i;
	return UINT32_MAX;
}

static void set_free(const struct plan *p, struct spot_probe *probe, struct regset live)
{
	probe->code.free = free_where(p, &live);
	probe->code.held = regset_or(probe->code.held, p->r->held);
	probe->code.poison = p->r->poison;
}

static enum refusal resolve_instruction(struct plan *p, struct spot_probe *probe,
					struct attachment *a)
{
	const struct liveness *l = p->r->live;
	uint64_t va = probe->spot.va;
	a->block = cfg_block_at(p->g, va);
	if (a->block == BLOCK_NONE)
		return REFUSED_UNREACHED;
	a->gap = gap_at(p, a->block, va);
	if (a->gap == UINT32_MAX)
		return p->overlaps[a->block] ? REFUSED_OVERLAP : REFUSED_BAD_CODE;
	a->where = AT_GAP;
	if (probe->spot.place == SPOT_TAKEN) {
		a->where = AT_TAKEN;
		set_free(p, probe, l->at_end[a->block]);
		return liveness_in_exclusive(l, a->block, va) ? REFUSED_EXCLUSIVE : REFUSED_NONE;
	}
	va = body_va(p, &p->g->blocks[a->block], body_of(p, a->block), a->gap);
	probe->runs_at = va;
	set_free(p, probe, liveness_before(l, a->block, va));
	return liveness_in_exclusive(l, a->block, va) ? REFUSED_EXCLUSIVE : REFUSED_NONE;
}

/* The entry, after its landing instructions, for control from other functions. */
static enum refusal resolve_entry(struct plan *p, struct spot_probe *probe, struct attachment *a)
{
	const struct cfg *g = p->g;
	if (g->entry >= g->block_count)
		return REFUSED_UNREACHED;
	const struct block *block = &g->blocks[g->entry];
	const struct body *b = body_of(p, g->entry);
	if (!b)
		return REFUSED_BAD_CODE;
	uint64_t va = body_va(p, block, b, b->landing);
	a->block = g->entry;
	a->gap = b->landing;
	a->where = AT_ARRIVAL;
	a->source = SOURCE_ENTRY;
	a->in_place = g->first_pred[g->entry] == g->first_pred[g->entry + 1] &&
		      !(block->flags & BLOCK_LANDING);
	probe->runs_at = va;
	uint32_t holder = a->gap < b->count ? g->entry : cfg_block_at(g, va);
	if (holder == BLOCK_NONE)
		return REFUSED_UNREACHED;
	set_free(p, probe, liveness_before(p->r->live, holder, va));
	return liveness_in_exclusive(p->r->live, holder, va) ? REFUSED_EXCLUSIVE : REFUSED_NONE;
}

/* The place where control arrives by an edge that the function's own code does not determine. */
static enum refusal resolve_arrival(struct plan *p, struct spot_probe *probe, const struct edge *e,
				    struct attachment *a)
{
	const struct cfg *g = p->g;
	const struct body *b = body_of(p, e->to);
	if (!b)
		return REFUSED_BAD_CODE;
	if (p->uncertain)
		return REFUSED_UNRESOLVED;
	a->block = e->to;
	a->gap = b->landing;
	a->where = AT_ARRIVAL;
	a->source = (uint32_t)(e - g->edges);
	a->in_place = e->to != g->entry;
	for (uint32_t i = g->first_pred[e->to]; i < g->first_pred[e->to + 1]; i++)
		a->in_place &= is_external(&g->edges[g->pred_edges[i]]);
	probe->runs_at = body_va(p, &g->blocks[e->to], b, b->landing);
	set_free(p, probe,
		 regset_or(liveness_on_edge(p->r->live, e), live_after_landing(p, e->to)));
	return REFUSED_NONE;
}

static enum refusal resolve_edge(struct plan *p, struct spot_probe *probe, struct attachment *a)
{
	const struct cfg *g = p->g;
	if (probe->spot.edge >= g->edge_count)
		return REFUSED_UNREACHED;
	const struct edge *e = &g->edges[probe->spot.edge];
	const struct body *b = body_of(p, e->from);
	if (!b)
		return REFUSED_BAD_CODE;
	if (p->overlaps[e->from] || p->overlaps[e->to])
		return REFUSED_OVERLAP;
	if (liveness_exclusive_on_edge(p->r->live, e))
		return REFUSED_EXCLUSIVE;
	set_free(p, probe, liveness_on_edge(p->r->live, e));
	if (is_external(e))
		return resolve_arrival(p, probe, e, a);
	a->block = e->from;
	a->gap = b->count;
	a->where = e->kind == EDGE_FALL ? AT_GAP : AT_TAKEN;
	return REFUSED_NONE;
}

static enum refusal resolve(struct plan *p, struct spot_probe *probe, struct attachment *a)
{
	enum refusal why;
	switch (probe->spot.place) {
	case SPOT_ENTRY: why = resolve_entry(p, probe, a); break;
	case SPOT_EDGE: why = resolve_edge(p, probe, a); break;
	default: why = resolve_instruction(p, probe, a);
	}
	return why == REFUSED_NONE && p->overlaps[a->block] ? REFUSED_OVERLAP : why;
}

/* Sorts by block; within a block arrivals by source, then gaps, then taken edges, then edges of
 * indirect jumps. */
static int compare(const void *x, const void *y)
{
	const struct attachment *a = x, *b = y;
	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	if (a->where != b->where)
		return a->where < b->where ? -1 : 1;
	if (a->where == AT_ARRIVAL && a->source != b->source)
		return a->source < b->source ? -1 : 1;
	if ((a->where == AT_GAP || a->where == AT_SWITCH) && a->gap != b->gap)
		return a->gap < b->gap ? -1 : 1;
	return a->probe < b->probe ? -1 : a->probe > b->probe;
}

void order_attachments(struct plan *p)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < p->attachment_count; i++)
		if (p->r->probes[p->attachments[i].probe].refused == REFUSED_NONE)
			p->attachments[kept++] = p->attachments[i];
	p->attachment_count = kept;
	if (kept)
		qsort(p->attachments, kept, sizeof(*p->attachments), compare);
	uint32_t at = 0;
	for (uint32_t b = 0; b <= p->g->block_count; b++) {
		while (at < kept && p->attachments[at].block < b)
			at++;
		p->first[b] = at;
	}
}

void resolve_probes(struct plan *p)
{
	p->attachments = ARENA_ARRAY(p->tmp, struct attachment, p->r->count);
	find_overlaps(p);
	find_unknown(p);
	keep_at_page_ends(p);
	for (uint32_t i = 0; i < p->r->count; i++) {
		struct spot_probe *probe = &p->r->probes[i];
		struct attachment *a = &p->attachments[p->attachment_count++];
		a->probe = i;
		probe->runs_at = 0;
		probe->shared = false;
		probe->refused = (uint8_t)resolve(p, probe, a);
	}
	order_attachments(p);
	unify_arrivals(p);
	order_attachments(p);
}
