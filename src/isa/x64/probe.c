/* The code of probes on x86-64.
 *
 * Programs use the 128 bytes below their stack pointer (the red zone), so it is lowered by as much
 * before anything is pushed, with lea, which leaves the flags alone.
 *
 * The thread pointer is read by rdfsbase: whoever puts the code into a program makes sure that the
 * kernel allows it (bit 1 of AT_HWCAP2). Processors that have it also have lahf in 64-bit mode. */
#include "isa/x64/encode.h"
#include "isa/x64/x64.h"

enum { RED_ZONE = 128, TABLE_BITS_MAX = 26 };

/* No address, as a number neither zero nor small. */
#define POISON UINT64_C(0xbadbadbadbadbad1)

/* The registers of a counter's code. Those that were not free are on the stack meanwhile; rax,
 * where the flags are kept, may be in a free register instead. */
struct scratch {
	uint64_t taken;
	uint64_t free;
	uint8_t thread, slot;
	uint8_t rax_in; /* REG_NONE: free or pushed */
	bool saves_flags;
	uint8_t pushed_count;
	uint8_t pushed[3];
};

static uint64_t untaken(const struct scratch *s)
{
	return 0xffff & ~X64_BIT(X64_RSP) & ~s->taken;
}

static uint8_t take(struct scratch *s)
{
	uint64_t free = untaken(s) & s->free;
	uint8_t reg = (uint8_t)__builtin_ctzll(free ? free : untaken(s));
	s->taken |= X64_BIT(reg);
	if (!free)
		s->pushed[s->pushed_count++] = reg;
	return reg;
}

static struct scratch choose_scratch(const struct regset *unused)
{
	struct scratch s = {.free = unused->core, .rax_in = REG_NONE};
	s.saves_flags = !regset_has(unused, REG_FLAGS);
	if (s.saves_flags)
		s.taken = X64_BIT(X64_RAX);
	s.thread = take(&s);
	s.slot = take(&s);
	if (!s.saves_flags || regset_has(unused, X64_RAX))
		return s;
	if (untaken(&s) & s.free)
		s.rax_in = take(&s);
	else
		s.pushed[s.pushed_count++] = X64_RAX;
	return s;
}

/* lahf takes all flags but the overflow flag; adding 0x7f to 1 or 0 gives that back. */
static void save(struct emit *e, const struct scratch *s)
{
	if (s->pushed_count)
		x64_move_stack(e, -RED_ZONE);
	for (unsigned i = 0; i < s->pushed_count; i++)
		x64_push(e, s->pushed[i]);
	if (s->rax_in != REG_NONE)
		x64_registers_form(e, X64_STORE, X64_RAX, s->rax_in);
	if (s->saves_flags)
		emit_bytes(e, "\x9f\x0f\x90\xc0", 4); /* lahf; seto %al */
}

static void restore(struct emit *e, const struct scratch *s)
{
	if (s->saves_flags)
		emit_bytes(e, "\x04\x7f\x9e", 3); /* add $0x7f, %al; sahf */
	if (s->rax_in != REG_NONE)
		x64_registers_form(e, X64_LOAD, X64_RAX, s->rax_in);
	for (unsigned i = s->pushed_count; i-- > 0;)
		x64_pop(e, s->pushed[i]);
	if (s->pushed_count)
		x64_move_stack(e, RED_ZONE);
}

/* Leaves the address of the thread's entry of the table in `slot`; the flags are equal if it is
 * this thread's. An entry has 16 bytes, so the index is shifted by 8 instead of 12. */
static void look_up(struct emit *e, const struct emit_probe *p, const struct scratch *s)
{
	x64_byte(e, 0xf3); /* rdfsbase */
	x64_byte(e, s->thread & 8 ? 0x49 : 0x48);
	emit_bytes(e, "\x0f\xae", 2);
	x64_byte(e, 0xc0u | (s->thread & 7));
	x64_registers_form(e, X64_STORE, s->thread, s->slot);
	x64_registers_form(e, 0xc1, 5, s->slot); /* shr $8, slot */
	x64_byte(e, 8);
	x64_registers_form(e, 0x81, 4, s->slot); /* and $mask, slot */
	x64_word(e, ((UINT32_C(1) << p->table_bits) - 1) << 4);
	x64_literal_form(e, X64_ADD, s->slot, emit_literal(e, p->table, 0));
	x64_memory_form(e, X64_COMPARE, s->thread, s->slot, 0);
}

static void jump_if(struct emit *e, uint8_t condition, uint32_t label)
{
	emit_bytes(e, (const uint8_t[]){0x0f, condition}, 2);
	x64_distance(e, (struct emit_target){.label = label});
}

/* The addition is one instruction, so that a signal handler that counts is not forgotten. */
static void count(struct emit *e, const struct emit_probe *p)
{
	if (p->table_bits > TABLE_BITS_MAX || p->counter > INT32_MAX) {
		e->failed = true;
		return;
	}
	struct scratch s = choose_scratch(&p->free);
	struct emit_aside other = {
		.probe = *p,
		.here = emit_label(e),
		.back = emit_label(e),
		.area = s.slot,
	};
	vec_push(&e->asides, other);
	save(e, &s);
	look_up(e, p, &s);
	jump_if(e, X64_JNE32, other.here);
	x64_memory_form(e, X64_LOAD, s.slot, s.slot, 8);
	emit_place(e, other.back);
	x64_memory_form(e, X64_ONE, X64_ONE_INC, s.slot, (int32_t)p->counter);
	restore(e, &s);
}

/* Another thread's entry is there: has the area found, and goes back with its address in the
 * scratch register. Where the counter's code pushed registers, these lie below the red zone too,
 * which `find`, not looking at the program's stack, does not mind. */
void x64_aside(struct emit *e, const struct emit_aside *a)
{
	struct scratch s = choose_scratch(&a->probe.free);
	if (!s.pushed_count)
		x64_move_stack(e, -RED_ZONE);
	x64_push(e, X64_RAX);
	x64_literal_form(e, X64_ONE, X64_ONE_CALL, emit_literal(e, a->probe.find, 0));
	if (a->area != X64_RAX) {
		x64_registers_form(e, X64_STORE, X64_RAX, a->area);
		x64_pop(e, X64_RAX);
	} else {
		x64_move_stack(e, 8);
	}
	if (!s.pushed_count)
		x64_move_stack(e, RED_ZONE);
	x64_go(e, (struct emit_target){.label = a->back});
}

/* rax is saved even if it is free: the runtime may be interested in it. */
static void call_runtime(struct emit *e, const struct emit_probe *p)
{
	x64_move_stack(e, -RED_ZONE);
	x64_push(e, X64_RAX);
	x64_literal_form(e, X64_LOAD, X64_RAX, emit_literal(e, p->argument, 0));
	x64_literal_form(e, X64_ONE, X64_ONE_CALL, emit_literal(e, p->routine, 0));
	x64_pop(e, X64_RAX);
	x64_move_stack(e, RED_ZONE);
}

/* Registers above xmm15 have no legacy instructions, and not every processor has them. Of the
 * flags, zero and carry together come from no compare. */
static void poison(struct emit *e, const struct regset *unused)
{
	uint32_t junk = emit_literal(e, POISON, 0);
	for (unsigned reg = 0; reg < 16; reg++)
		if (regset_has(unused, reg) && reg != X64_RSP)
			x64_literal_form(e, X64_LOAD, reg, junk);
	for (unsigned reg = 0; reg < 16; reg++) {
		if (!(unused->vec >> reg & 1))
			continue;
		x64_byte(e, 0x66); /* pcmpeqd: all bits, which is not a number */
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

void x64_probe(struct emit *e, const struct emit_probe *p)
{
	if (p->ops) /* not yet */
		e->failed = true;
	else if (p->routine)
		call_runtime(e, p);
	else
		count(e, p);
	if (p->poison)
		poison(e, &p->free);
}
