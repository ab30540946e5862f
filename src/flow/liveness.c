#include "flow/liveness.h"

#include "base/order.h"
#include "base/vec.h"
#include "flow/effects.h"

enum { ENTRY_INSNS = 6 }; /* how many instructions of a callee are looked at */

/* A block with instructions whose exceptions a landing pad handles. Not only calls throw: with
 * -fnon-call-exceptions, and in some languages always, memory accesses do, too. */
struct covered {
	uint32_t block, pad;
};

typedef VEC(struct covered) covered_list;

struct known_landings {
	struct frame_range range; /* that they belong to */
	const struct landing *all;
	uint32_t count;
};

/* The landings of the frame range around the block; those of the block before it, if that is in the
 * same range. */
static void landings_around(const struct module *m, uint64_t va, struct known_landings *k,
			    struct arena *tmp)
{
	if (va >= k->range.start && va < k->range.end)
		return;
	if (!module_frame_at(m, va, &k->range))
		k->range = (struct frame_range){.start = va, .end = va + 1};
	k->all = module_landings_in(m, k->range.start, k->range.end, tmp, &k->count);
}

static void list_covered(const struct module *m, const struct cfg *g, covered_list *out)
{
	struct known_landings k = {0};
	struct arena tmp = {0};
	for (uint32_t b = 0; b < g->block_count; b++) {
		uint64_t start = g->blocks[b].start, end = start + g->blocks[b].size;
		landings_around(m, start, &k, &tmp);
		uint32_t i = ORDER_UP_TO(k.all, k.count, start, start);
		for (i -= i > 0; i < k.count && k.all[i].start < end; i++) {
			uint32_t pad = cfg_block_at(g, k.all[i].pad);
			if (k.all[i].end > start && pad != BLOCK_NONE)
				vec_push(out, (struct covered){b, pad});
		}
	}
	arena_release(&tmp);
}

/* Adds the registers that the landing pad reads to a block, and lists the predecessors to compute
 * again. True if there was something to add. */
static bool add_pad(const struct backward *s, struct regset *always, const struct covered *c,
		    block_list *work)
{
	struct regset more = regset_or(always[c->block], s->in[c->pad]);
	if (regset_equal(more, always[c->block]))
		return false;
	always[c->block] = more;
	s->in[c->block] = regset_or(s->in[c->block], more);
	for (uint32_t k = s->g->first_pred[c->block]; k < s->g->first_pred[c->block + 1]; k++)
		vec_push(work, s->g->edges[s->g->pred_edges[k]].from);
	return true;
}

static void solve_with_pads(const struct backward *s, struct liveness *l)
{
	covered_list covered = {0};
	block_list work = {0};
	bool grown;
	list_covered(l->module, s->g, &covered);
	backward_all(s->g, &work);
	do {
		backward_spread(s, &work);
		grown = false;
		vec_each (c, &covered)
			grown |= add_pad(s, l->always, c, &work);
	} while (grown);
	vec_free(&work);
	vec_free(&covered);
}

/* The registers that may be read once control has arrived at `target`: by its first instructions,
 * or later. */
static struct regset read_at(const struct liveness *l, uint64_t target)
{
	struct decoder c;
	struct insn in;
	struct effects e = {0};
	cursor_set(&c, l->module, l->arch, target, UINT64_MAX);
	for (unsigned i = 0; i < ENTRY_INSNS && cursor_next(&c, DECODE_FULL, &in); i++) {
		effects_add(&e, &in);
		if (in.kind != INSN_PLAIN)
			break;
	}
	return regset_or(e.reads, regset_without(REGSET_ALL, e.writes));
}

/* Whether some out-edges of the block are missing from the graph. */
static bool leads_elsewhere(const struct block *b)
{
	switch (b->end) {
	case END_FALL:
	case END_JUMP:
	case END_SWITCH: return b->edge_count < 1;
	case END_BRANCH: return b->edge_count < 2;
	default: return b->flags & BLOCK_CONDITIONAL && b->edge_count < 1;
	}
}

/* The registers that may be read by unknown code. */
static struct regset read_anywhere(const struct liveness *l)
{
	return regset_without(REGSET_ALL, regset_without(l->private, l->touched));
}

/* The registers that may be read after a block by code other than its successors. */
static struct regset read_elsewhere(const struct liveness *l, const struct block *b,
				    struct regset spent)
{
	const struct regset others = regset_without(REGSET_ALL, l->private);
	if (leads_elsewhere(b))
		return read_anywhere(l);
	switch (b->end) {
	case END_FALL:
	case END_JUMP:
	case END_SWITCH:
	case END_BRANCH: return (struct regset){0};
	case END_CALL:
	case END_TAIL_CALL: return b->target ? regset_and(read_at(l, b->target), others) : others;
	case END_CALL_INDIRECT:
	case END_TRAP: return others;
	case END_RETURN: return regset_without(others, spent);
	default: return read_anywhere(l);
	}
}

/* A table whose size was guessed may be longer: its jump may also lead to unknown code. */
static void open_guessed_switches(const struct liveness *l, struct regset *ends)
{
	const struct cfg *g = l->cfg;
	for (uint32_t i = 0; i < g->table_count; i++) {
		const struct jump_table *t = &g->tables[i];
		if (g->escape_count || t->bound == BOUND_CONTENTS || t->bound == BOUND_LABELS)
			ends[t->block] = read_anywhere(l);
	}
}

/* Whether the graph may be incomplete or wrong. */
static bool is_doubtful(const struct cfg *g, const struct effects *effects)
{
	if (g->entry >= g->block_count || g->unresolved || g->bad)
		return true;
	for (uint32_t b = 0; b < g->block_count; b++)
		if (effects[b].bad ||
		    (b + 1 < g->block_count &&
		     g->blocks[b].start + g->blocks[b].size > g->blocks[b + 1].start))
			return true;
	return false;
}

static void solve(struct liveness *out, const struct effects *effects, struct arena *tmp)
{
	const struct cfg *g = out->cfg;
	struct regset *ends = ARENA_ARRAY(tmp, struct regset, g->block_count);
	struct regset *spent = spent_at_returns(g, effects, out->module, out->arch, tmp);
	for (uint32_t b = 0; b < g->block_count; b++)
		ends[b] = read_elsewhere(out, &g->blocks[b], spent[b]);
	open_guessed_switches(out, ends);
	struct backward s = {
		.g = g, .effects = effects, .ends = ends, .in = out->at_start, .out = out->at_end};
	solve_with_pads(&s, out);
}

/* Code that could not be decoded may touch anything. */
static void find_touched(struct liveness *out, const struct effects *effects)
{
	for (uint32_t b = 0; b < out->cfg->block_count; b++) {
		bool bad = effects[b].bad || out->cfg->blocks[b].end == END_BAD;
		out->touched_in[b] = bad ? REGSET_ALL : effects[b].touched;
		out->touched = regset_or(out->touched, out->touched_in[b]);
	}
}

void liveness_find(struct liveness *out, const struct flow *f, const struct cfg *g,
		   struct regset private, struct arena *a, struct arena *tmp)
{
	uint32_t n = g->block_count;
	*out = (struct liveness){
		.cfg = g, .arch = flow_arch(f), .module = flow_module(f), .private = private};
	const struct effects *effects = effects_of(g, out->module, out->arch, tmp);
	out->exclusive = exclusive_find(g, effects, a);
	out->at_start = ARENA_ARRAY(a, struct regset, n);
	out->at_end = ARENA_ARRAY(a, struct regset, n);
	out->always = ARENA_ARRAY(a, struct regset, n);
	out->touched_in = ARENA_ARRAY(a, struct regset, n);
	find_touched(out, effects);
	out->unknown = is_doubtful(g, effects);
	if (!out->unknown)
		solve(out, effects, tmp);
	for (uint32_t b = 0; out->unknown && b < n; b++)
		out->at_start[b] = out->at_end[b] = out->always[b] = read_anywhere(out);
}

struct regset liveness_before(const struct liveness *l, uint32_t block, uint64_t va)
{
	const struct block *b = &l->cfg->blocks[block];
	struct effects e = {0};
	struct decoder c;
	struct insn in;
	cursor_set(&c, l->module, l->arch, va, b->start + b->size - va);
	while (cursor_next(&c, DECODE_FULL, &in))
		effects_add(&e, &in);
	if (c.va != b->start + b->size)
		return REGSET_ALL;
	struct regset live = regset_or(e.reads, regset_without(l->at_end[block], e.writes));
	return regset_or(live, l->always[block]);
}

struct regset liveness_on_edge(const struct liveness *l, const struct edge *edge)
{
	struct regset others = regset_without(REGSET_ALL, l->private);
	return edge->kind == EDGE_UNWIND ? regset_or(others, l->at_start[edge->to])
					 : l->at_start[edge->to];
}

struct regset liveness_free(const struct arch *arch, const struct regset *live)
{
	return regset_without(arch->usable, *live);
}
