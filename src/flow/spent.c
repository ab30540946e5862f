/* Finds the registers that nobody needs after a return.
 *
 * The caller may rely on any register that the function leaves unchanged, whatever the convention
 * says, and assembly may return values anywhere. So a register is given up only if all of this
 * holds:
 *
 *	- No convention in use preserves it or returns values in it (arch->scratch).
 *	- It was overwritten on every path from the entry to this return, so that the caller's
 *	  value is gone.
 *	- Its last value was read afterwards. So that value is neither the caller's, restored,
 *	  which would be the last thing that happens to the register, nor left for the caller.
 *	- The function reads no registers at its entry but those that may hold arguments.
 *	  Assembly that gets values in unusual registers returns them in unusual ones. */
#include "base/vec.h"
#include "flow/effects.h"

/* What holds on every path to the start of a block: registers that were overwritten, and those of
 * them whose last value was read. */
struct spent_state {
	struct regset gone, spent;
	bool reached;
};

bool is_go(const struct module *m)
{
	return module_section(m, ".gopclntab") || module_section(m, ".data.rel.ro.gopclntab") ||
	       module_section(m, ".go.buildinfo");
}

/* Whether the function reads only argument and callee-saved registers at its entry. Only general
 * registers are looked at: vector registers are often written in part. */
static bool takes_only_arguments(const struct cfg *g, const struct effects *effects,
				 const struct arch *arch, struct arena *tmp)
{
	uint64_t expected = arch->arguments.core | arch->callee_saved.core;
	struct backward s = {.g = g, .effects = effects, .past_calls = true};
	s.ends = ARENA_ARRAY(tmp, struct regset, g->block_count);
	s.in = ARENA_ARRAY(tmp, struct regset, g->block_count);
	s.out = ARENA_ARRAY(tmp, struct regset, g->block_count);
	backward_solve(&s);
	return !(s.in[g->entry].core & ~expected & UINT32_MAX);
}

static void pass_block(const struct effects *e, struct spent_state *s)
{
	struct regset kept = regset_or(s->spent, regset_and(s->gone, e->spent));
	s->gone = regset_or(s->gone, e->fresh);
	s->spent = regset_or(regset_without(kept, e->writes),
			     regset_and(regset_and(e->spent, e->writes), s->gone));
}

/* Merges the state at the end of a predecessor into the start of a block. True if less is known of
 * the block than before. */
static bool merge_into(struct spent_state *to, const struct spent_state *from)
{
	struct spent_state met = *from;
	if (to->reached) {
		met.gone = regset_and(to->gone, from->gone);
		met.spent = regset_and(to->spent, from->spent);
		if (regset_equal(met.gone, to->gone) && regset_equal(met.spent, to->spent))
			return false;
	}
	*to = met;
	to->reached = true;
	return true;
}

static bool is_root(const struct cfg *g, uint32_t b)
{
	return b == g->entry || g->blocks[b].flags & BLOCK_LANDING ||
	       g->first_pred[b] == g->first_pred[b + 1];
}

static struct spent_state *solve_forward(const struct cfg *g, const struct effects *effects,
					 struct arena *tmp)
{
	struct spent_state *in = ARENA_ARRAY(tmp, struct spent_state, g->block_count);
	block_list work = {0};
	for (uint32_t b = g->block_count; b-- > 0;) {
		in[b].reached = is_root(g, b);
		if (in[b].reached)
			vec_push(&work, b);
	}
	while (work.len) {
		uint32_t b = vec_pop(&work);
		const struct block *block = &g->blocks[b];
		struct spent_state s = in[b];
		pass_block(&effects[b], &s);
		for (uint32_t k = 0; k < block->edge_count; k++) {
			uint32_t to = g->edges[block->first_edge + k].to;
			if (merge_into(&in[to], &s))
				vec_push(&work, to);
		}
	}
	vec_free(&work);
	return in;
}

struct regset *spent_at_returns(const struct cfg *g, const struct effects *effects,
				const struct module *m, const struct arch *arch, struct arena *tmp)
{
	struct regset *out = ARENA_ARRAY(tmp, struct regset, g->block_count);
	if (is_go(m) || !takes_only_arguments(g, effects, arch, tmp))
		return out;
	struct spent_state *in = solve_forward(g, effects, tmp);
	for (uint32_t b = 0; b < g->block_count; b++) {
		if (g->blocks[b].end != END_RETURN || !in[b].reached)
			continue;
		pass_block(&effects[b], &in[b]);
		out[b] = regset_and(in[b].spent, arch->scratch);
	}
	return out;
}
