/* Paths from outside that meet at one block: returns of calls, indirect jumps, exceptions.
 *
 * A probe where they arrive runs for all of them. It is placed there in one of these cases, and
 * refused otherwise:
 *
 * 1. All paths have the same probe there; it becomes one.
 * 2. The probe does no harm on the other paths (see enum tolerance).
 * 3. The other paths never get there: moved code compares an indirect jump's target with the blocks
 *    whose probes differ, and jumps to their moved copies itself. */
#include "patch/plan.h"

enum { MAX_DISPATCHES = UINT8_MAX }; /* limit for the compares before one jump */

/* The probes on all paths from outside to a block. */
struct block_arrivals {
	struct plan *p;
	uint32_t block;
	struct attachment *a;
	uint32_t count;
	uint32_t paths;
};

bool is_external(const struct edge *e)
{
	return e->kind == EDGE_CALL_RETURN || e->kind == EDGE_SWITCH || e->kind == EDGE_UNWIND;
}

static bool is_switch(const struct plan *p, uint32_t source)
{
	return source != SOURCE_ENTRY && p->g->edges[source].kind == EDGE_SWITCH;
}

static uint32_t count_paths(const struct plan *p, uint32_t block, bool switches)
{
	const struct cfg *g = p->g;
	uint64_t start = g->blocks[block].start;
	uint32_t count = block == g->entry;
	bool unwinds = false;
	for (uint32_t i = g->first_pred[block]; i < g->first_pred[block + 1]; i++) {
		const struct edge *e = &g->edges[g->pred_edges[i]];
		count += is_external(e) && (switches || e->kind != EDGE_SWITCH);
		unwinds |= e->kind == EDGE_UNWIND;
	}
	count += g->blocks[block].flags & BLOCK_LANDING && !unwinds;
	return count + is_intruded(p, start, start + 1);
}

static const struct spot_probe *probe_of(const struct block_arrivals *m, uint32_t i)
{
	return &m->p->r->probes[m->a[i].probe];
}

static bool are_same(const struct block_arrivals *m, uint32_t i, uint32_t k)
{
	const struct spot_probe *x = probe_of(m, i), *y = probe_of(m, k);
	return x->owner == y->owner && x->spot.kind == y->spot.kind &&
	       x->spot.loop == y->spot.loop && !x->code.routine == !y->code.routine;
}

/* The number of paths that have the same probe. */
static uint32_t count_same(const struct block_arrivals *m, uint32_t i)
{
	uint32_t count = 0;
	for (uint32_t k = 0; k < m->count; k++)
		count += m->a[k].where == AT_ARRIVAL && are_same(m, i, k);
	return count;
}

/* Whether all probes may be placed where the paths meet. */
static bool is_harmless(const struct block_arrivals *m)
{
	for (uint32_t i = 0; i < m->count; i++)
		if (probe_of(m, i)->tolerance != TOLERATES_ALL && count_same(m, i) != m->paths)
			return false;
	return true;
}

struct regset free_at_jump(const struct plan *p, uint32_t block)
{
	const struct body *b = p->bodies[block];
	uint64_t va = b->insns[b->count - 1].pc - p->r->bias;
	struct regset live = liveness_before(p->r->live, block, va);
	return free_where(p, &live);
}

static bool can_dispatch(struct plan *p, const struct edge *e)
{
	const struct body *b = body_of(p, e->from);
	if (!b || p->dispatches[e->from] == MAX_DISPATCHES || p->overlaps[e->from] ||
	    liveness_exclusive_on_edge(p->r->live, e))
		return false;
	const struct insn *in = &b->insns[b->count - 1];
	struct regset free = free_at_jump(p, e->from);
	return in->kind == INSN_JUMP_INDIRECT &&
	       p->ops->can_match(in, b->bytes + (in->pc - b->insns[0].pc), &free);
}

static bool can_dispatch_all(const struct block_arrivals *m)
{
	const struct cfg *g = m->p->g;
	bool any = false;
	for (uint32_t i = g->first_pred[m->block]; i < g->first_pred[m->block + 1]; i++) {
		uint32_t edge = g->pred_edges[i];
		if (is_switch(m->p, edge) && !can_dispatch(m->p, &g->edges[edge]))
			return false;
		any |= is_switch(m->p, edge);
	}
	return any;
}

static void set_dispatched(struct plan *p, uint32_t edge)
{
	if (!p->dispatched[edge])
		p->dispatches[p->g->edges[edge].from]++;
	p->dispatched[edge] = true;
}

/* Takes indirect jumps out of the set of paths: those with probes, and the others if probes remain
 * that they must not run. */
static void dispatch(struct block_arrivals *m)
{
	struct plan *p = m->p;
	bool others = false;
	for (uint32_t i = 0; i < m->count; i++) {
		struct attachment *a = &m->a[i];
		a->in_place = false;
		if (!is_switch(p, a->source)) {
			others = true;
			continue;
		}
		set_dispatched(p, a->source);
		a->where = AT_SWITCH;
		a->block = p->g->edges[a->source].from;
		a->gap = a->source;
		p->r->probes[a->probe].runs_at = 0;
	}
	for (uint32_t i = p->g->first_pred[m->block]; others && i < p->g->first_pred[m->block + 1];
	     i++)
		if (is_switch(p, p->g->pred_edges[i]))
			set_dispatched(p, p->g->pred_edges[i]);
	m->paths = count_paths(p, m->block, false);
}

static enum refusal why_shared(const struct plan *p, uint32_t block)
{
	const struct cfg *g = p->g;
	for (uint32_t i = g->first_pred[block]; i < g->first_pred[block + 1]; i++)
		if (g->edges[g->pred_edges[i]].kind == EDGE_UNWIND)
			return REFUSED_SHARED_LANDING;
	return REFUSED_SHARED_SWITCH;
}

/* The registers that are free on all paths to the block. */
static struct regset free_on_all_paths(const struct plan *p, uint32_t block)
{
	const struct cfg *g = p->g;
	struct regset live = regset_or(p->r->live->at_start[block], live_after_landing(p, block));
	for (uint32_t i = g->first_pred[block]; i < g->first_pred[block + 1]; i++) {
		struct regset on_edge = liveness_on_edge(p->r->live, &g->edges[g->pred_edges[i]]);
		live.core |= on_edge.core;
		live.vec |= on_edge.vec;
	}
	return free_where(p, &live);
}

/* Whether the probe stays. The first of several equal probes represents them all. */
static bool stays(const struct block_arrivals *m, uint32_t i)
{
	struct plan *p = m->p;
	struct attachment *a = &m->a[i];
	struct spot_probe *probe = &p->r->probes[a->probe];
	bool shared = count_same(m, i) != m->paths;
	if (shared && probe->tolerance == TOLERATES_NONE) {
		probe->refused = (uint8_t)why_shared(p, m->block);
		return false;
	}
	for (uint32_t k = 0; k < i; k++)
		if (m->a[k].where == AT_ARRIVAL && are_same(m, i, k))
			return false;
	probe->shared = shared;
	if (m->paths > 1)
		probe->code.free = free_on_all_paths(p, m->block);
	return true;
}

/* Moves the probes that stay to the front and returns their number. They all get the same source,
 * so that they are sorted by probe, which keeps them properly nested. */
static uint32_t unify(struct block_arrivals *m, bool *keep)
{
	uint32_t kept = 0, source = m->a[0].source;
	if (!is_harmless(m) && can_dispatch_all(m))
		dispatch(m);
	for (uint32_t i = 0; i < m->count; i++)
		keep[i] = m->a[i].where == AT_SWITCH || stays(m, i);
	for (uint32_t i = 0; i < m->count; i++) {
		if (!keep[i])
			continue;
		m->a[kept] = m->a[i];
		m->a[kept++].source = source;
	}
	return kept;
}

static uint32_t arrivals_size(const struct attachment *a, uint32_t most)
{
	uint32_t n = 1;
	while (a->where == AT_ARRIVAL && n < most && a[n].block == a->block &&
	       a[n].where == AT_ARRIVAL)
		n++;
	return n;
}

void unify_arrivals(struct plan *p)
{
	struct attachment *all = p->attachments;
	bool *keep = ARENA_ARRAY(p->tmp, bool, p->attachment_count);
	uint32_t kept = 0, end;
	for (uint32_t i = 0; i < p->attachment_count; i = end) {
		struct block_arrivals m = {.p = p, .block = all[i].block, .a = &all[i]};
		m.count = arrivals_size(&all[i], p->attachment_count - i);
		end = i + m.count;
		if (all[i].where == AT_ARRIVAL) {
			m.paths = count_paths(p, m.block, true);
			m.count = unify(&m, keep);
		}
		for (uint32_t k = 0; k < m.count; k++)
			all[kept++] = m.a[k];
	}
	p->attachment_count = kept;
}
