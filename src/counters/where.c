#include "counters/where.h"

#include "flow/effects.h"

static uint32_t site_at(const struct counters *t, uint64_t va)
{
	for (uint32_t i = 0; i < t->site_count; i++)
		if (t->sites[i].va == va)
			return i + 1;
	return 0;
}

uint32_t counters_site_behind(const struct counters *t, uint64_t va)
{
	for (uint32_t i = 0; i < t->site_count; i++)
		if (t->sites[i].va + t->sites[i].length == va)
			return i + 1;
	return 0;
}

/* Whether control always leaves the function at the block's end. (A conditional tail call may fall
 * through.) */
static bool ends_function(const struct block *b)
{
	bool calls = b->end == END_CALL || b->end == END_CALL_INDIRECT;
	return !b->edge_count && !calls;
}

static bool is_jumped_to(const struct cfg *g, uint32_t block)
{
	bool jumped = false;
	if (block == g->entry || g->blocks[block].flags & BLOCK_LANDING)
		return false;
	for (uint32_t i = g->first_pred[block]; i < g->first_pred[block + 1]; i++) {
		uint8_t kind = g->edges[g->pred_edges[i]].kind;
		if (kind == EDGE_CALL_RETURN)
			return false;
		jumped |= kind == EDGE_SWITCH;
	}
	return jumped;
}

struct counters_place counters_place(const struct counters *t, const struct flow *f, uint64_t va)
{
	struct counters_place out = {.block = cfg_block_at(t->cfg, va), .first = true};
	struct decoder c;
	struct insn in;
	if (out.block == BLOCK_NONE)
		return out;
	const struct block *b = &t->cfg->blocks[out.block];
	cursor_set(&c, flow_module(f), flow_arch(f), b->start, b->size);
	for (; cursor_next(&c, DECODE_FLOW, &in) && in.pc < va; out.insn++)
		out.first &= (in.flags & INSN_LANDING) != 0;
	out.call = site_at(t, va);
	out.behind = counters_site_behind(t, va);
	out.leaves = ends_function(b) && out.insn + 1 == b->insn_count;
	out.jumped_to = is_jumped_to(t->cfg, out.block);
	return out;
}

static uint32_t add_running(const struct counters *t, const struct counters_loop *l,
			    struct counters_running *out)
{
	out[0] = (struct counters_running){.counter = l->trips, .trips = true, .word = l->word};
	for (uint32_t i = 0; i < l->held_count; i++) {
		const struct carrier *c = &t->carriers[t->held[l->first_held + i]];
		out[i + 1] = (struct counters_running){.counter = c->counter, .word = c->word};
	}
	return l->held_count + 1;
}

/* No two loops count in the same register, so `out` has room for all. */
uint32_t counters_running(const struct counters *t, uint32_t block,
			  struct counters_running out[RUNNING_MAX])
{
	uint32_t count = 0;
	for (uint32_t l = t->forest->innermost[block]; l != LOOP_NONE;
	     l = t->forest->loops[l].parent)
		if (t->loops[l].method == TRIP_HELD)
			count += add_running(t, &t->loops[l], out + count);
	return count;
}
