#include "counters/hold.h"

#include "isa/arch.h"

enum { MIN_SPARE = 3 }; /* general registers that probes need where a loop is left */

/* A conditional tail call that leaves its frame to the callee: no probe can be put on that edge. */
static bool is_left_silently(const struct block *b)
{
	return b->end == END_TAIL_CALL && b->flags & BLOCK_OPEN_FRAME;
}

static void exclude_needed(struct register_choice *h, const struct liveness *live, uint32_t block)
{
	struct regset needed = regset_or(live->at_start[block], live->at_end[block]);
	needed = regset_or(needed, regset_or(live->always[block], live->touched_in[block]));
	if (is_left_silently(&live->cfg->blocks[block]))
		needed = (struct regset){UINT64_MAX, UINT32_MAX};
	for (uint32_t l = h->forest->innermost[block]; l != LOOP_NONE;
	     l = h->forest->loops[l].parent)
		h->unused[l] = regset_without(h->unused[l], needed);
}

void holder_init(struct register_choice *h, const struct loop_forest *forest,
		 const struct liveness *live, const bool *calls, struct arena *tmp)
{
	uint32_t count = forest->loop_count + 1;
	struct regset usable = live->arch->usable;
	usable.core &= UINT32_MAX;
	if (live->arch->link != REG_NONE) /* unwinders need it */
		usable.core &= ~(UINT64_C(1) << live->arch->link);
	*h = (struct register_choice){.forest = forest, .best = live->arch->scratch.core};
	h->unused = ARENA_ARRAY(tmp, struct regset, count);
	h->own = ARENA_ARRAY(tmp, struct regset, count);
	h->below = ARENA_ARRAY(tmp, struct regset, count);
	for (uint32_t l = 0; l < forest->loop_count && !live->unknown; l++)
		if (!calls[l] && !forest->loops[l].irreducible)
			h->unused[l] = usable;
	for (uint32_t b = 0; b < live->cfg->block_count; b++)
		exclude_needed(h, live, b);
}

/* Nested loops count at the same time, so they need different registers. */
static struct regset available(const struct register_choice *h, uint32_t loop)
{
	struct regset r = regset_without(h->unused[loop], regset_or(h->never, h->below[loop]));
	for (uint32_t l = loop; l != LOOP_NONE; l = h->forest->loops[l].parent)
		r = regset_without(r, h->own[l]);
	return r;
}

static void reserve(struct register_choice *h, uint32_t loop, struct regset reg)
{
	h->own[loop] = regset_or(h->own[loop], reg);
	for (uint32_t l = h->forest->loops[loop].parent; l != LOOP_NONE;
	     l = h->forest->loops[l].parent)
		h->below[l] = regset_or(h->below[l], reg);
}

uint8_t holder_take(struct register_choice *h, uint32_t loop)
{
	struct regset from = available(h, loop);
	if (from.core && (!from.vec || __builtin_popcountll(from.core) > MIN_SPARE)) {
		uint64_t set = from.core & h->best ? from.core & h->best : from.core;
		unsigned reg = 63 - (unsigned)__builtin_clzll(set);
		reserve(h, loop, (struct regset){.core = UINT64_C(1) << reg});
		return (uint8_t)(EMIT_HELD + reg);
	}
	if (!from.vec)
		return REG_NONE;
	unsigned reg = 31 - (unsigned)__builtin_clz(from.vec);
	reserve(h, loop, (struct regset){.vec = UINT32_C(1) << reg});
	return (uint8_t)(EMIT_VECTOR + reg);
}
