#include "counters/coder.h"

/* The registers that hold values at the spot, including those of loops that are running there. */
static struct regset held_at(const struct coder *c, const struct spot *s)
{
	const struct cfg *g = c->t->cfg;
	/* The spot of an entry may be after the end of the function, if the function has only a
	 * landing instruction and continues in the next one. */
	uint32_t block = s->place == SPOT_EDGE    ? g->edges[s->edge].from
			 : s->place == SPOT_ENTRY ? g->entry
						  : cfg_block_at(g, s->va);
	uint32_t to = s->place == SPOT_EDGE ? g->edges[s->edge].to : block;
	uint32_t loops[] = {c->t->forest->innermost[block], c->t->forest->innermost[to]};
	struct regset r = counters_held(c->t);
	for (size_t i = 0; i < ARRAY_SIZE(loops); i++)
		for (uint32_t l = loops[i]; l != LOOP_NONE; l = c->t->forest->loops[l].parent)
			r = regset_or(r, c->t->loops[l].registers);
	return r;
}

struct emit_probe code_finished(struct coder *c)
{
	/* Tests need an aside to branch to, if only to skip the rest. */
	if (!c->asides && c->checks) {
		last_aside(c, 0, 0);
		op(c, EMIT_SET, V0, 0, 0, 0);
	}
	struct emit_probe p = {
		.ops = ARENA_DUP(c->a, c->ops.data, c->ops.len),
		.op_count = next_op(c),
		.aside_count = c->asides,
		.table = c->n->table,
		.table_bits = RT_TABLE_BITS,
		.find = c->n->find,
		.routine = c->routine,
		.argument = c->argument,
	};
	for (unsigned i = 0; i < c->asides; i++) {
		p.asides[i].from = c->froms[i];
		p.asides[i].back = c->backs[i];
	}
	return p;
}

void code_put(struct coder *c, struct spot spot, uint32_t owner)
{
	struct spot_probe probe = {.spot = spot, .code = code_finished(c), .owner = owner};
	probe.code.held = held_at(c, &spot);
	vec_push(c->out, probe);
}

void code_put_alone(struct coder *c, struct spot spot)
{
	code_put(c, spot, c->owners++);
}

struct spot code_on_edge(const struct coder *c, uint32_t edge)
{
	const struct block *from = &c->t->cfg->blocks[c->t->cfg->edges[edge].from];
	return (struct spot){.kind = POINT_ITERATION_BEGIN,
			     .place = SPOT_EDGE,
			     .loop = LOOP_NONE,
			     .edge = edge,
			     .va = from->start};
}

/* If no register holds the context, it is taken from the top frame. That frame belongs to another
 * function if this activation got none (no memory, or a thread that does not count). Then the probe
 * does nothing. */
static void check_owner(struct coder *c, unsigned context, unsigned tmp)
{
	load(c, tmp, context, offsetof(struct rt_context, function));
	op(c, EMIT_ADD, tmp, tmp, 0, -(int64_t)c->n->function);
	op(c, EMIT_UNLESS_ZERO, 0, tmp, 0, 0);
	c->checks = true;
}

unsigned code_context(struct coder *c, unsigned where, unsigned tmp)
{
	if (c->t->context != REG_NONE)
		return held_context(c);
	if (c->t->context_vector != REG_NONE) {
		op(c, EMIT_FROM_VECTOR, where, EMIT_VECTOR + c->t->context_vector, 0, 0);
		return where;
	}
	op(c, EMIT_AREA, where, 0, 0, 0);
	load(c, where, where, offsetof(struct rt_area, top));
	load(c, where, where, offsetof(struct rt_shadow, context));
	check_owner(c, where, tmp);
	return where;
}

void code_keep_context(struct coder *c, unsigned at)
{
	if (c->t->context_vector != REG_NONE)
		op(c, EMIT_TO_VECTOR, EMIT_VECTOR + c->t->context_vector, at, 0, 0);
}

void code_area(struct coder *c, unsigned d)
{
	if (counters_holds_context(c->t))
		load(c, d, code_context(c, d, d), offsetof(struct rt_context, area));
	else
		op(c, EMIT_AREA, d, 0, 0, 0);
}

unsigned code_frame(struct coder *c, unsigned where, unsigned tmp)
{
	if (c->t->frame != REG_NONE)
		return EMIT_HELD + c->t->frame;
	code_area(c, where);
	load(c, where, where, offsetof(struct rt_area, top));
	if (!counters_holds_context(c->t)) {
		load(c, tmp, where, offsetof(struct rt_shadow, context));
		check_owner(c, tmp, tmp);
	}
	return where;
}
