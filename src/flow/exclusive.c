/* Finds the code between a load-exclusive and its store-exclusive. An instruction is in such a
 * sequence if a load may precede it and a store may follow. Both are required: a failed compare
 * leaves the sequence without a store, and by the first condition alone the rest of the function
 * would belong to it.
 *
 * A call ends a sequence, because its effect on memory cannot be foreseen. */
#include "base/vec.h"
#include "flow/effects.h"
#include "flow/liveness.h"

static bool has_any(const struct cfg *g, const struct effects *effects)
{
	for (uint32_t b = 0; b < g->block_count; b++)
		if (effects[b].first_exclusive)
			return true;
	return false;
}

static bool ends_in_call(const struct cfg *g, uint32_t b)
{
	return g->blocks[b].end == END_CALL || g->blocks[b].end == END_CALL_INDIRECT;
}

static bool is_pending(const struct cfg *g, const struct effects *e, const uint8_t *flags,
		       uint32_t b)
{
	if (ends_in_call(g, b))
		return false;
	return e[b].last_exclusive ? e[b].last_exclusive == INSN_EXCLUSIVE_BEGIN
				   : flags[b] & EXCLUSIVE_BEFORE;
}

static bool is_awaited(const struct effects *e, const uint8_t *flags, uint32_t b)
{
	return e[b].first_exclusive ? e[b].first_exclusive == INSN_EXCLUSIVE_END
				    : flags[b] & EXCLUSIVE_AFTER;
}

/* Sets EXCLUSIVE_PENDING and, in successors, EXCLUSIVE_BEFORE. */
static void spread_forward(const struct cfg *g, const struct effects *effects, uint8_t *flags)
{
	block_list work = {0};
	for (uint32_t b = g->block_count; b-- > 0;)
		vec_push(&work, b);
	while (work.len) {
		uint32_t b = vec_pop(&work);
		const struct block *block = &g->blocks[b];
		if (flags[b] & EXCLUSIVE_PENDING || !is_pending(g, effects, flags, b))
			continue;
		flags[b] |= EXCLUSIVE_PENDING;
		for (uint32_t k = 0; k < block->edge_count; k++) {
			uint32_t to = g->edges[block->first_edge + k].to;
			flags[to] |= EXCLUSIVE_BEFORE;
			vec_push(&work, to);
		}
	}
	vec_free(&work);
}

/* Sets EXCLUSIVE_AWAITED and, in predecessors, EXCLUSIVE_AFTER. */
static void spread_backward(const struct cfg *g, const struct effects *effects, uint8_t *flags)
{
	block_list work = {0};
	for (uint32_t b = 0; b < g->block_count; b++)
		vec_push(&work, b);
	while (work.len) {
		uint32_t b = vec_pop(&work);
		if (flags[b] & EXCLUSIVE_AWAITED || !is_awaited(effects, flags, b))
			continue;
		flags[b] |= EXCLUSIVE_AWAITED;
		for (uint32_t k = g->first_pred[b]; k < g->first_pred[b + 1]; k++) {
			uint32_t from = g->edges[g->pred_edges[k]].from;
			if (ends_in_call(g, from))
				continue;
			flags[from] |= EXCLUSIVE_AFTER;
			vec_push(&work, from);
		}
	}
	vec_free(&work);
}

const uint8_t *exclusive_find(const struct cfg *g, const struct effects *effects, struct arena *a)
{
	if (!has_any(g, effects))
		return NULL;
	uint8_t *flags = ARENA_ARRAY(a, uint8_t, g->block_count);
	spread_forward(g, effects, flags);
	spread_backward(g, effects, flags);
	return flags;
}

bool liveness_in_exclusive(const struct liveness *l, uint32_t block, uint64_t va)
{
	if (!l->exclusive || l->unknown)
		return l->exclusive;
	const struct block *b = &l->cfg->blocks[block];
	bool pending = l->exclusive[block] & EXCLUSIVE_BEFORE;
	struct decoder c;
	struct insn in;
	cursor_set(&c, l->module, l->arch, b->start, b->size);
	while (cursor_next(&c, DECODE_FLOW, &in)) {
		uint16_t mark = in.flags & (INSN_EXCLUSIVE_BEGIN | INSN_EXCLUSIVE_END);
		if (mark && in.pc >= va)
			return pending && mark == INSN_EXCLUSIVE_END;
		if (mark)
			pending = mark == INSN_EXCLUSIVE_BEGIN;
	}
	return pending && l->exclusive[block] & EXCLUSIVE_AFTER;
}

bool liveness_exclusive_on_edge(const struct liveness *l, const struct edge *edge)
{
	if (!l->exclusive || l->unknown)
		return l->exclusive;
	return l->exclusive[edge->from] & EXCLUSIVE_PENDING &&
	       l->exclusive[edge->to] & EXCLUSIVE_AWAITED;
}
