/* Ends counting while the program continues, or for a thread that ends in the middle of a function.
 * A thread that is not in a call is in the middle of a function: its exact place is needed to solve
 * the counters. */
#include "probe/stop/abandon.h"

#include "counters/where.h"
#include "probe/code/counters.h"
#include "probe/code/moved.h"
#include "probe/code/sites.h"
#include "probe/region/areas.h"
#include "probe/region/layout.h"
#include "probe/region/read.h"
#include "probe/region/region_file.h"

enum { SETTLE_TRIES = 25 }; /* each try of stop_settle() gives up after 20 ms */

/* The context of the thread's innermost activation. It is an activation of the site that `y` was
 * made for. */
static uint64_t context_of(const struct target *t, uint32_t slot, const struct counters *y,
			   struct control_thread *th, const struct registers *r)
{
	struct rt_shadow top;
	uint64_t vector[2];
	if (y->context != REG_NONE)
		return r->reg[y->context];
	if (y->context_vector != REG_NONE)
		return control_vector(th, y->context_vector, vector) ? vector[0] : 0;
	uint64_t at = target_area(t, slot)->top - t->region.base;
	return region_read(t, at, &top, sizeof(top)) ? top.context : 0;
}

static uint64_t held_count(struct control_thread *th, const struct emit_ops *ops, uint8_t counter,
			   const struct registers *r)
{
	uint64_t vector[2];
	if (counter < EMIT_VECTOR)
		return r->reg[counter - EMIT_HELD];
	bool known = control_vector(th, counter - (unsigned)EMIT_VECTOR, vector);
	return known ? vector[ops->vector_count] : 0;
}

static bool runs_at(const struct counters *y, uint64_t va, const struct counters_running *wanted)
{
	struct counters_running running[RUNNING_MAX];
	uint32_t block = cfg_block_at(y->cfg, va);
	for (uint32_t i = 0, n = block == BLOCK_NONE ? 0 : counters_running(y, block, running);
	     i < n; i++)
		if (running[i].counter == wanted->counter && running[i].word == wanted->word)
			return true;
	return false;
}

/* Inside a probe that begins a loop, the loop's registers may not hold counts yet. So the
 * instruction before the probe must be in the loop, too. */
static void read_held_counts(struct abandoned_at *at, const struct counters *y, uint32_t block,
			     uint64_t before, struct control_thread *th, const struct registers *r)
{
	struct counters_running running[RUNNING_MAX];
	vec_clear(&at->held);
	for (uint32_t i = 0, n = counters_running(y, block, running); i < n; i++) {
		const struct emit_ops *ops = y->live->arch->emit;
		if (before && !runs_at(y, before, &running[i]))
			continue;
		uint64_t value = held_count(th, ops, running[i].counter, r);
		vec_push(&at->held, (struct counted_word){running[i].word, value});
	}
}

/* In moved code, all probes before the instruction have been executed. In the program's own code, a
 * patch leads to them, unless the code was left in place. */
static bool is_in_middle(const struct counters_place *p, bool moved)
{
	if (p->block == BLOCK_NONE || p->call)
		return false;
	return moved ? !p->leaves : p->jumped_to;
}

/* Notes the place of a thread. `f` is where the thread would be in the original program. If the
 * thread is inside a probe, `before` is the instruction before that probe in the moved code;
 * otherwise it is 0. */
static void note_place(struct target *t, struct control_thread *th, const struct frame *f,
		       bool probed, uint64_t before, struct arena *a)
{
	uint32_t slot = areas_number(t, th->tracee.tid);
	const struct site *s = site_of(t, f);
	struct registers now;
	struct counters y;
	if (slot == RT_AREAS || !s || !s->counted || !s->address || !control_registers(th, &now) ||
	    !counters_of_site(t, s, a, &y))
		return;
	bool moved = is_code_memory(t, now.pc);
	struct counters_place p = counters_place(&y, s->code->flow, f->va);
	/* A thread right after a call has not executed the probe that finds its context again. */
	if (!is_in_middle(&p, moved) || (p.behind && !probed))
		return;
	struct abandoned_at *at = &t->slots[slot].abandoned;
	at->context = context_of(t, slot, &y, th, &now);
	at->va = f->va;
	at->arriving = !moved;
	at->framed = y.framed;
	read_held_counts(at, &y, p.block, before, th, &now);
}

static bool are_settled(const struct stop *s)
{
	vec_each (w, &s->walks)
		if (w->unsettled)
			return false;
	return true;
}

/* Tries several times: on a busy machine, a thread may not get a CPU for a while. */
static void settle_all(struct stop *s)
{
	stop_settle(s);
	for (int tries = 0; !are_settled(s) && tries < SETTLE_TRIES; tries++)
		stop_settle(s);
}

void counting_end(struct target *t)
{
	struct stop stop = {.target = t};
	struct arena a;
	if (!t->counting.on || t->counting.over)
		return;
	arena_init(&a);
	settle_all(&stop);
	vec_each (w, &stop.walks) {
		struct control_thread *th = control_thread(t->shared->control, w->tid);
		if (th && w->known && !w->unsettled && w->walk.frames.len)
			note_place(t, th, &w->walk.frames.data[0], w->probed, 0, &a);
		arena_clear(&a);
	}
	arena_release(&a);
	stop_release(&stop);
	for (uint32_t i = 0; i < RT_AREAS; i++)
		if (t->slots[i].tid)
			keep_counts(t, i, false);
	t->counting.over = true;
}

/* A thread that ends inside a probe will not get out of it: the next instruction after the probe is
 * taken instead, and what the probe counts may be off by one. Returns false in the runtime, and in
 * rarely executed code. */
static bool original_nearby(const struct target *t, uint64_t *pc, bool *probed, uint64_t *before)
{
	unsigned step = t->shared->arch->insn_align;
	vec_each (s, &t->code->sites) {
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

void counting_end_thread(struct target *t, struct control_thread *th)
{
	struct registers r;
	struct arena a;
	bool probed = false;
	uint64_t before = 0;
	if (t->counting.over || !control_registers(th, &r) || th->in_call)
		return;
	if (is_code_memory(t, r.pc) && !original_nearby(t, &r.pc, &probed, &before))
		return;
	struct place at = space_find(t->space, r.pc);
	struct frame f = {.code = at.code, .va = at.va, .pc = r.pc, .exact = true};
	arena_init(&a);
	note_place(t, th, &f, probed, before, &a);
	arena_release(&a);
}
