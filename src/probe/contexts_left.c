/* What was counted, when counting ends while the program goes on, or a thread ends in the middle.
 * Threads that are not in a call are somewhere in the middle of a procedure: that has to be known
 * to make sense of its counters. */
#include "probe/plan.h"
#include "tally/where.h"

enum { TRIES = 25 }; /* of 20 ms each */

/* The context of the thread's innermost activation, which is of this site. */
static uint64_t context_of(const struct target *t, uint32_t slot, const struct tally *y,
			   struct control_thread *th, const struct registers *r)
{
	struct rt_shadow top;
	uint64_t vector[2];
	if (y->context != REG_NONE)
		return r->reg[y->context];
	if (y->context_vector != REG_NONE)
		return control_vector(th, y->context_vector, vector) ? vector[0] : 0;
	uint64_t at = target_area(t, slot)->top - t->base;
	return region_read(t, at, &top, sizeof(top)) ? top.context : 0;
}

static uint64_t count_in(struct control_thread *th, const struct emit_ops *ops, uint8_t counter,
			 const struct registers *r)
{
	uint64_t vector[2];
	if (counter < EMIT_VECTOR)
		return r->reg[counter - EMIT_HELD];
	bool known = control_vector(th, counter - (unsigned)EMIT_VECTOR, vector);
	return known ? vector[ops->vector_count] : 0;
}

static bool runs_at(const struct tally *y, uint64_t va, const struct tally_running *wanted)
{
	struct tally_running running[RUNNING_MAX];
	uint32_t block = cfg_block_at(y->cfg, va);
	for (uint32_t i = 0, n = block == BLOCK_NONE ? 0 : tally_running(y, block, running); i < n;
	     i++)
		if (running[i].counter == wanted->counter && running[i].word == wanted->word)
			return true;
	return false;
}

/* In a probe that begins a loop its registers may not hold counts yet: so the loop must hold the
 * instruction before the probe, too. */
static void find_held(struct left_at *left, const struct tally *y, uint32_t block, uint64_t before,
		      struct control_thread *th, const struct registers *r)
{
	struct tally_running running[RUNNING_MAX];
	vec_clear(&left->held);
	for (uint32_t i = 0, n = tally_running(y, block, running); i < n; i++) {
		const struct emit_ops *ops = y->live->arch->emit;
		if (before && !runs_at(y, before, &running[i]))
			continue;
		uint64_t value = count_in(th, ops, running[i].counter, r);
		vec_push(&left->held, (struct counted_word){running[i].word, value});
	}
}

/* In moved code all probes before the instruction have been executed; in the program's own, a patch
 * leads to them, unless what is there was left in place. */
static bool is_within(const struct tally_place *p, bool moved)
{
	if (p->block == BLOCK_NONE || p->call)
		return false;
	return moved ? !p->leaves : p->jumped_to;
}

/* `f` is where the thread would be in the original program. `before`: of one inside a probe, the
 * instruction that comes before that in the moved code; else 0. */
static void find_place(struct target *t, struct control_thread *th, const struct frame *f,
		       bool probed, uint64_t before, struct arena *a)
{
	uint32_t slot = areas_number(t, th->tracee.tid);
	const struct site *s = site_of(t, f);
	struct registers now;
	struct tally y;
	if (slot == RT_AREAS || !s || !s->counted || !s->address || !control_registers(th, &now) ||
	    !tally_of_site(t, s, a, &y))
		return;
	bool moved = is_code_memory(t, now.pc);
	struct tally_place p = tally_place(&y, s->code->flow, f->va);
	/* Behind a system call it has not passed what makes the context known. */
	if (!is_within(&p, moved) || (p.behind && !probed))
		return;
	struct left_at *left = &t->slots[slot].left;
	left->context = context_of(t, slot, &y, th, &now);
	left->va = f->va;
	left->arriving = !moved;
	left->framed = y.framed;
	find_held(left, &y, p.block, before, th, &now);
}

static bool are_settled(const struct target *t, uint32_t first)
{
	for (uint32_t i = first; i < t->engine->walks.len; i++)
		if (t->engine->walks.data[i]->unsettled)
			return false;
	return true;
}

/* On a busy machine a thread may get no processor for a while. */
static void settle_all(struct target *t, uint32_t *first)
{
	settle_threads(t, first);
	for (int tries = 0; !are_settled(t, *first) && tries < TRIES; tries++) {
		engine_forget_walks(t->engine, *first);
		settle_threads(t, first);
	}
}

void contexts_leave(struct target *t)
{
	struct arena a;
	uint32_t first;
	if (!t->counting || t->counts_kept)
		return;
	arena_init(&a);
	settle_all(t, &first);
	for (uint32_t i = first; i < t->engine->walks.len; i++) {
		const struct stopped_walk *w = t->engine->walks.data[i];
		struct control_thread *th = control_thread(t->engine->control, w->tid);
		if (th && w->known && !w->unsettled && w->walk.frames.len)
			find_place(t, th, &w->walk.frames.data[0], w->probed, 0, &a);
		arena_clear(&a);
	}
	arena_release(&a);
	engine_forget_walks(t->engine, first);
	for (uint32_t i = 0; i < RT_AREAS; i++)
		if (t->slots[i].tid)
			keep_counts(t, i, false);
	t->counts_kept = true;
}

/* A thread that ends inside a probe will not come out of it: the instruction behind that has to do,
 * and what the probe counts may be one off. `before` becomes the instruction before the probe,
 * then. False in the runtime, and in what is rarely executed. */
static bool original_nearby(const struct target *t, uint64_t *pc, bool *probed, uint64_t *before)
{
	unsigned step = t->engine->arch->insn_align;
	vec_each (s, &t->sites) {
		if (!s->address || *pc < s->address || *pc >= s->address + s->fragment.rare)
			continue;
		if (to_original(t, pc, probed))
			return true;
		if (!fragment_nearest(&s->fragment, (uint32_t)(*pc - s->address), before))
			return false;
		for (; *pc < s->address + s->fragment.rare; *pc += step)
			if (to_original(t, pc, probed))
				return true;
	}
	return false;
}

void contexts_ending(struct target *t, struct control_thread *th)
{
	struct registers r;
	struct arena a;
	bool probed = false;
	uint64_t before = 0;
	if (t->counts_kept || !control_registers(th, &r) || th->in_call)
		return;
	if (is_code_memory(t, r.pc) && !original_nearby(t, &r.pc, &probed, &before))
		return;
	struct place at = space_find(t->space, r.pc);
	struct frame f = {.code = at.code, .va = at.va, .pc = r.pc, .exact = true};
	arena_init(&a);
	find_place(t, th, &f, probed, before, &a);
	arena_release(&a);
}
