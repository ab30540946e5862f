/* The code of probes on x86-64: calls of the runtime, and garbage for tests. Operations are in
 * operations.c. */
#include "isa/ops.h"
#include "isa/x64/encode.h"
#include "isa/x64/x64.h"

/* Not a valid address, and as a number neither zero nor small. */
#define POISON UINT64_C(0xbadbadbadbadbad1)

/* rax is saved even if it is free: the runtime may need its value. */
static void call_runtime(struct emit *e, const struct emit_probe *p)
{
	x64_move_stack(e, -X64_RED_ZONE);
	x64_push(e, X64_RAX);
	x64_literal_form(e, X64_LOAD, X64_RAX, emit_literal(e, p->argument, 0));
	x64_literal_form(e, X64_ONE, X64_ONE_CALL, emit_literal(e, p->routine, 0));
	x64_pop(e, X64_RAX);
	x64_move_stack(e, X64_RED_ZONE);
}

/* Registers above xmm15 are left alone: legacy instructions cannot use them, and not every CPU has
 * them. The flags are set to zero and carry together, which no compare produces. */
static void poison(struct emit *e, const struct regset *unused)
{
	uint32_t junk = emit_literal(e, POISON, 0);
	for (unsigned reg = 0; reg < 16; reg++)
		if (regset_has(unused, reg) && reg != X64_RSP)
			x64_literal_form(e, X64_LOAD, reg, junk);
	for (unsigned reg = 0; reg < 16; reg++) {
		if (!(unused->vec >> reg & 1))
			continue;
		x64_byte(e, 0x66); /* pcmpeqd: all bits set, which is not a number (NaN) */
		if (reg & 8)
			x64_byte(e, 0x45);
		emit_bytes(e, "\x0f\x76", 2);
		x64_byte(e, 0xc0u | (reg & 7) << 3 | (reg & 7));
	}
	if (regset_has(unused, REG_FLAGS)) {
		x64_registers_form(e, X64_COMPARE, X64_RSP, X64_RSP);
		x64_byte(e, 0xf9); /* stc */
	}
}

void x64_probe(struct emit *e, const struct emit_probe *probe)
{
	struct emit_op counter[COUNTER_OPS];
	struct emit_probe p = probe_in_full(probe, counter);
	if (p.ops)
		x64_operations(e, &p);
	else
		call_runtime(e, &p);
	if (p.poison)
		poison(e, &p.free);
}
