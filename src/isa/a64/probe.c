/* The code of probes on A64: calls of the runtime, and garbage for tests. Operations are in
 * operations.c. */
#include "isa/a64/words.h"
#include "isa/arch.h"
#include "isa/ops.h"

/* x16, x17 and the link register are saved even if they are free: the runtime may need their
 * values. */
static void call_routine(struct emit *e, const struct emit_probe *p)
{
	a64_put(e, a64_push_pair(A64_IP0, A64_IP1, RUNTIME_CALL_FRAME_A64));
	a64_put(e, a64_str(A64_LINK, A64_SP, 16));
	a64_set_register(e, A64_IP0, p->argument);
	a64_call_runtime(e, p->routine);
	a64_restore_after_call(e, p->free.core);
}

/* Sets flags that differ from probe to probe, without using a register: a compare sets "equal",
 * then a conditional compare on "not equal", which therefore sets the given flags. */
static void poison_flags(struct emit *e)
{
	const uint32_t subs_zero = 0xeb1f03ff, ccmp_zero_ne = 0xfa5f13e0;
	uint32_t flags = (uint32_t)(emit_here(e) >> 2) & 15;
	a64_put(e, subs_zero);
	a64_put(e, ccmp_zero_ne | flags);
}

/* Fills registers with 0xaa bytes: not a valid address, and not a small number in any part.
 * Predicates are left alone, because not every CPU has them. */
static void poison(struct emit *e, const struct regset *free_set)
{
	const uint32_t mov_garbage = 0xb201f3e0, movi_garbage = 0x4f05e540;
	for (unsigned i = 0; i < A64_SP; i++)
		if (regset_has(free_set, i))
			a64_put(e, mov_garbage | i);
	for (unsigned i = 0; i < 32; i++)
		if (free_set->vec >> i & 1)
			a64_put(e, movi_garbage | i);
	if (regset_has(free_set, REG_FLAGS))
		poison_flags(e);
}

void a64_probe(struct emit *e, const struct emit_probe *probe)
{
	struct emit_op counter[COUNTER_OPS];
	struct emit_probe p = probe_in_full(probe, counter);
	if (p.ops)
		a64_operations(e, &p);
	else
		call_routine(e, &p);
	if (p.poison)
		poison(e, &p.free);
}
