/* Moves all blocks of a function, in the order of their addresses. Direct jumps go to moved blocks.
 * Calls and traps are executed in place: moved code jumps there, and a springboard after the call
 * brings control back. */
#include "patch/plan.h"

#include <stdlib.h>

#include "base/order.h"

/* An edge of a branch or an indirect jump with probes on it, whose code is still to be written. */
struct pending_edge {
	uint32_t label, block, gap;
	enum where where;
	struct emit_target to;
};

struct relocation {
	struct plan *p;
	uint32_t *labels; /* label of each block */
	bool *call_moved; /* for each block: moved code makes its call */
	struct arrival *arrivals;
	uint32_t arrival_count;
	uint32_t next_arrival; /* the next one by block and gap, while blocks are written */
	bool falls;            /* control falls through from the code written so far */
	VEC(struct pending_edge) pending;
};

static enum refusal check(struct plan *p)
{
	const struct cfg *g = p->g;
	if (p->uncertain)
		return REFUSED_UNRESOLVED;
	if (g->bad)
		return REFUSED_BAD_CODE;
	for (uint32_t i = 0; i < g->block_count; i++) {
		if (p->overlaps[i])
			return REFUSED_OVERLAP;
		if (!body_of(p, i))
			return REFUSED_BAD_CODE;
	}
	return g->entry < g->block_count ? REFUSED_NONE : REFUSED_BAD_CODE;
}

static const struct edge *find_edge(const struct cfg *g, uint32_t block, bool fall)
{
	const struct block *b = &g->blocks[block];
	for (uint32_t i = b->first_edge; i < b->first_edge + b->edge_count; i++)
		if (!is_external(&g->edges[i]) && (g->edges[i].kind == EDGE_FALL) == fall)
			return &g->edges[i];
	return NULL;
}

static bool is_arrival(const struct plan *p, uint32_t block)
{
	const struct cfg *g = p->g;
	const struct block *b = &g->blocks[block];
	if (block == g->entry || b->flags & BLOCK_LANDING)
		return true;
	for (uint32_t i = g->first_pred[block]; i < g->first_pred[block + 1]; i++)
		if (is_external(&g->edges[g->pred_edges[i]]))
			return true;
	return false;
}

static void add_arrival(struct relocation *r, uint32_t block, uint32_t gap, bool unknown)
{
	struct plan *p = r->p;
	const struct body *b = body_of(p, block);
	struct arrival a = {.block = block, .gap = gap, .host = block, .unknown = unknown};
	a.va = body_va(p, &p->g->blocks[block], b, gap);
	if (gap == b->count) {
		const struct edge *fall = find_edge(p->g, block, true);
		a.host = fall ? fall->to : BLOCK_NONE;
		if (fall && !has_probes(p, block, AT_GAP, gap) &&
		    !has_probes(p, fall->to, AT_ARRIVAL, 0)) {
			a.block = fall->to;
			a.gap = body_of(p, fall->to)->landing;
			add_arrival(r, a.block, a.gap, unknown);
			return;
		}
	}
	r->arrivals[r->arrival_count++] = a;
}

/* Adds the places in a block that other code jumps to. False if one is not an instruction that we
 * know. */
static bool add_intruded(struct relocation *r, uint32_t block)
{
	struct plan *p = r->p;
	const struct block *bl = &p->g->blocks[block];
	const struct body *b = body_of(p, block);
	uint32_t gap = 0, end = intruded_from(p, bl->start + bl->size);
	for (uint32_t i = intruded_from(p, bl->start); i < end; i++) {
		uint64_t va = p->intruded.data[i];
		while (gap < b->count && body_va(p, bl, b, gap) < va)
			gap++;
		if (gap == b->count || body_va(p, bl, b, gap) != va)
			return false;
		/* Calls arrive right after the landing instruction as well, so a jump to there
		 * counts as a call. */
		bool enters = block == p->g->entry && gap <= b->landing;
		add_arrival(r, block, gap < b->landing ? b->landing : gap, !enters);
	}
	return true;
}

static uint32_t count_syscalls(const struct body *b)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < b->count; i++)
		count += b->insns[i].kind == INSN_SYSCALL;
	return count;
}

/* Whether the first instruction at the arrival is executed in place, and nothing has to run before
 * it. */
static bool needs_no_springboard(const struct relocation *r, const struct arrival *a)
{
	struct plan *p = r->p;
	const struct body *b = body_of(p, a->block);
	if (a->gap == b->count)
		return false;
	const struct insn *in = &b->insns[a->gap];
	return ((stays_in_place(in) && !r->call_moved[a->block]) || in->kind == INSN_SYSCALL) &&
	       !(a->unknown && p->r->recover) && !has_probes(p, a->block, AT_GAP, a->gap) &&
	       !(a->gap == b->landing && has_probes(p, a->block, AT_ARRIVAL, 0));
}

/* Removes the arrivals that need no springboard. If a springboard replaces a call, moved code makes
 * that call. */
static enum refusal choose_springboards(struct relocation *r)
{
	struct plan *p = r->p;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < r->arrival_count; i++) {
		const struct arrival *a = &r->arrivals[i];
		if (needs_no_springboard(r, a))
			continue;
		if (a->host == BLOCK_NONE)
			return REFUSED_NO_ROOM;
		const struct body *b = body_of(p, a->host);
		const struct insn *in = &b->insns[a->host == a->block ? a->gap : 0];
		if (a->host == a->block && a->gap == b->count)
			return REFUSED_NO_ROOM;
		r->call_moved[a->host] |= stays_in_place(in);
		if (r->call_moved[a->host] && stays_in_place(in) && in->kind != INSN_TRAP &&
		    p->r->shadow_stack)
			return REFUSED_SHADOW_STACK;
		r->arrivals[kept++] = *a;
	}
	r->arrival_count = kept;
	return REFUSED_NONE;
}

/* Merges arrivals at the same place. False if they would have to be distinguished, which is
 * impossible. */
static bool merge_duplicates(struct relocation *r)
{
	uint32_t kept = 0;
	order_by_address(r->arrivals, r->arrival_count, sizeof(*r->arrivals),
			 offsetof(struct arrival, va));
	for (uint32_t i = 0; i < r->arrival_count; i++) {
		struct arrival *a = &r->arrivals[i], *last = kept ? &r->arrivals[kept - 1] : a;
		if (kept && last->va == a->va) {
			if (last->block != a->block || last->gap != a->gap)
				return false;
			last->unknown |= a->unknown;
			continue;
		}
		r->arrivals[kept++] = *a;
	}
	r->arrival_count = kept;
	return true;
}

static uint32_t count_intruded(const struct plan *p, const struct block *b)
{
	return intruded_from(p, b->start + b->size) - intruded_from(p, b->start);
}

static enum refusal find_arrivals(struct relocation *r)
{
	struct plan *p = r->p;
	const struct cfg *g = p->g;
	uint32_t count = g->block_count;
	for (uint32_t i = 0; i < g->block_count; i++)
		count += count_syscalls(body_of(p, i)) + count_intruded(p, &g->blocks[i]);
	r->arrivals = ARENA_ARRAY(p->tmp, struct arrival, count);
	r->arrival_count = 0;
	for (uint32_t i = 0; i < g->block_count; i++) {
		const struct body *b = body_of(p, i);
		if (is_arrival(p, i))
			add_arrival(r, i, b->landing, false);
		for (uint32_t k = 0; k < b->count; k++)
			if (b->insns[k].kind == INSN_SYSCALL)
				add_arrival(r, i, k + 1, false);
		if (!add_intruded(r, i))
			return REFUSED_OVERLAP;
	}
	if (!merge_duplicates(r))
		return REFUSED_NO_ROOM;
	return choose_springboards(r);
}

/* Places the label of the arrival at this gap, and writes the gap's probes. Arrivals are in the
 * order of blocks and gaps. */
static void place_gap(struct relocation *r, uint32_t block, uint32_t gap)
{
	struct arrival *a = &r->arrivals[r->next_arrival];
	if (r->next_arrival < r->arrival_count && a->block == block && a->gap == gap) {
		a->inner = emit_label(&r->p->e);
		emit_place(&r->p->e, a->inner);
		if (!a->at_top)
			a->label = a->inner;
		r->next_arrival++;
	}
	emit_probes(r->p, block, AT_GAP, gap);
}

static struct emit_target target_of(const struct relocation *r, const struct edge *e, uint64_t pc)
{
	if (e)
		return (struct emit_target){.label = r->labels[e->to]};
	return (struct emit_target){LABEL_NONE, pc};
}

/* The target for control that goes to `to`, through the probes at this place if there are any. */
static struct emit_target target_over_probes(struct relocation *r, uint32_t block, enum where where,
					     uint32_t gap, struct emit_target to)
{
	struct plan *p = r->p;
	if (!has_probes(p, block, where, gap))
		return to;
	struct pending_edge s = {emit_label(&p->e), block, gap, where, to};
	vec_push(&r->pending, s);
	return (struct emit_target){.label = s.label};
}

static void emit_branch(struct relocation *r, uint32_t block, const struct insn *in,
			const uint8_t *bytes)
{
	struct plan *p = r->p;
	struct emit_target to = target_of(r, find_edge(p->g, block, false), in->target);
	p->ops->branch(&p->e, in, bytes, target_over_probes(r, block, AT_TAKEN, 0, to));
}

/* Writes the compares for the edges of an indirect jump that must be distinguished. These lead to
 * moved blocks, bypassing the springboards. */
static void emit_dispatch(struct relocation *r, uint32_t block, const struct insn *in,
			  const uint8_t *bytes)
{
	struct plan *p = r->p;
	const struct block *b = &p->g->blocks[block];
	uint32_t count = 0;
	if (!p->dispatches[block])
		return;
	struct dispatch_target *targets =
		ARENA_ARRAY(p->tmp, struct dispatch_target, p->dispatches[block]);
	for (uint32_t i = b->first_edge; i < b->first_edge + b->edge_count; i++) {
		const struct edge *e = &p->g->edges[i];
		if (p->dispatched[i])
			targets[count++] = (struct dispatch_target){
				p->g->blocks[e->to].start + p->r->bias,
				target_over_probes(r, block, AT_SWITCH, i, target_of(r, e, 0))};
	}
	order_by_address(targets, count, sizeof(*targets), offsetof(struct dispatch_target, pc));
	struct regset free = free_at_jump(p, block);
	p->ops->match(&p->e, in, bytes, &free, targets, count);
}

static bool is_in_place(const struct relocation *r, uint32_t block, const struct insn *in)
{
	return stays_in_place(in) && !r->call_moved[block];
}

static void emit_one(struct relocation *r, uint32_t block, const struct insn *in,
		     const uint8_t *bytes)
{
	struct plan *p = r->p;
	if (is_in_place(r, block, in)) {
		p->ops->go(&p->e, (struct emit_target){LABEL_NONE, in->pc});
	} else if (in->kind == INSN_CALL || in->kind == INSN_CALL_INDIRECT) {
		p->ops->call(&p->e, in, bytes, in->pc + in->length);
	} else if (in->kind == INSN_JUMP) {
		p->ops->go(&p->e, target_of(r, find_edge(p->g, block, false), in->target));
	} else if (in->kind == INSN_BRANCH) {
		emit_branch(r, block, in, bytes);
	} else {
		if (in->kind == INSN_JUMP_INDIRECT)
			emit_dispatch(r, block, in, bytes);
		p->ops->move(&p->e, in, bytes);
	}
}

static void emit_pending(struct relocation *r)
{
	struct plan *p = r->p;
	vec_each (s, &r->pending) {
		emit_place(&p->e, s->label);
		emit_probes(p, s->block, s->where, s->gap);
		p->ops->go(&p->e, s->to);
	}
	vec_clear(&r->pending);
}

/* See fragment_request.recover. */
static void emit_recover(struct relocation *r, const struct arrival *a)
{
	struct plan *p = r->p;
	uint32_t count;
	uint64_t start = flow_functions(p->r->flow, &count)[p->r->function].start;
	struct emit_probe recover =
		p->r->recover(p->r->recover_ctx, (a->va - start) & INT32_MAX, p->tmp);
	p->ops->probe(&p->e, &recover);
}

/* Writes the probes that are only for control from outside, if the arrival has any. */
static bool emit_arrival(struct relocation *r, struct arrival *a)
{
	struct plan *p = r->p;
	bool probed =
		a->gap == body_of(p, a->block)->landing && has_probes(p, a->block, AT_ARRIVAL, 0);
	bool recovers = a->unknown && p->r->recover;
	if (!probed && !recovers)
		return false;
	a->label = emit_label(&p->e);
	emit_place(&p->e, a->label);
	if (recovers)
		emit_recover(r, a);
	if (probed)
		emit_probes(p, a->block, AT_ARRIVAL, 0);
	return true;
}

/* Writes the probes for control that arrives at the top of the block right before it, which saves a
 * jump. Nothing may fall through to here. */
static void emit_arrival_at_top(struct relocation *r, uint32_t block)
{
	struct arrival *a = &r->arrivals[r->next_arrival];
	if (r->next_arrival < r->arrival_count && a->block == block && a->gap == 0)
		a->at_top = emit_arrival(r, a);
}

static void emit_other_arrivals(struct relocation *r)
{
	for (uint32_t i = 0; i < r->arrival_count; i++) {
		struct arrival *a = &r->arrivals[i];
		if (!a->at_top && emit_arrival(r, a))
			r->p->ops->go(&r->p->e, (struct emit_target){.label = a->inner});
	}
}

static void emit_block(struct relocation *r, uint32_t block)
{
	struct plan *p = r->p;
	const struct block *bl = &p->g->blocks[block];
	const struct body *b = body_of(p, block);
	if (!r->falls)
		emit_arrival_at_top(r, block);
	emit_place(&p->e, r->labels[block]);
	for (uint32_t i = 0; i < b->count; i++) {
		const struct insn *in = &b->insns[i];
		uint32_t arrival = p->e.bytes.len;
		place_gap(r, block, i);
		if (in->kind == INSN_JUMP)
			emit_probes(p, block, AT_TAKEN, 0);
		uint32_t offset = p->e.bytes.len;
		emit_one(r, block, in, b->bytes + (in->pc - b->insns[0].pc));
		note_moved(p, in, arrival, offset, is_in_place(r, block, in));
	}
	const struct edge *fall = find_edge(p->g, block, true);
	r->falls = block_falls(bl, b);
	if (r->falls)
		place_gap(r, block, b->count);
	if (r->falls && (!fall || fall->to != block + 1)) {
		p->ops->go(&p->e, target_of(r, fall, bl->start + bl->size + p->r->bias));
		r->falls = false;
	}
	if (!r->falls)
		emit_pending(r);
}

static enum refusal write_code(struct relocation *r)
{
	struct plan *p = r->p;
	begin(p);
	r->next_arrival = 0;
	r->falls = false;
	for (uint32_t i = 0; i < p->g->block_count; i++)
		r->labels[i] = emit_label(&p->e);
	for (uint32_t i = 0; i < p->g->block_count; i++)
		emit_block(r, i);
	emit_pending(r);
	emit_other_arrivals(r);
	return emit_finish(&p->e) ? REFUSED_NONE : REFUSED_OUT_OF_REACH;
}

/* Repeats until no call is in the way of a springboard. The upper bound of the size is far above
 * the size of most code, so the size that allows the shortest forms is tried first, if the code may
 * fit. */
static enum refusal write_with_springboards(struct relocation *r)
{
	struct plan *p = r->p;
	uint32_t bound = p->extent, small = p->ops->small_size;
	uint64_t least = (uint64_t)p->g->insn_count * p->arch->insn_align;
	enum refusal why;
	if (least <= small && small < bound)
		p->extent = small;
	for (bool retry = true; retry;) {
		retry = false;
		why = find_arrivals(r);
		if (why == REFUSED_NONE)
			why = write_code(r);
		if (why == REFUSED_OUT_OF_REACH && p->extent < bound) {
			p->extent = bound;
			retry = true;
		}
		if (why == REFUSED_NONE)
			why = place_springboards(p, r->arrivals, r->arrival_count, r->call_moved,
						 &retry);
	}
	p->extent = bound;
	return why;
}

enum refusal relocate(struct plan *p)
{
	struct relocation r = {.p = p};
	enum refusal why = check(p);
	if (why != REFUSED_NONE)
		return why;
	r.labels = ARENA_ARRAY(p->tmp, uint32_t, p->g->block_count);
	r.call_moved = ARENA_ARRAY(p->tmp, bool, p->g->block_count);
	why = write_with_springboards(&r);
	vec_free(&r.pending);
	if (why == REFUSED_NONE)
		p->out->mechanism = MECHANISM_RELOCATED;
	return why;
}
