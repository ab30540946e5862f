/* The code of probes on A64.
 *
 * A counter, with registers A, B, C:
 *
 *	mrs   A, tpidr_el0
 *	      B = table
 *	ubfx  C, A, #12, #table_bits
 *	add   B, B, C, lsl #4
 *	ldp   B, C, [B]             thread pointer, area
 *	eor   B, B, A               the flags stay as they are
 *	cbnz  B, aside
 * back:
 *	ldr   A, [C, #counter]
 *	add   A, A, #1
 *	str   A, [C, #counter]
 * skip:
 *
 * and behind the fragment, where it is in nobody's way:
 *
 * aside:
 *	call find                   leaves the area, or 0, in x16
 *	cbz   C, skip
 *	b     back
 *
 * Nothing below the stack pointer is anybody's (the procedure call standard has no red zone here),
 * so what is not free is pushed. */
#include "isa/a64/words.h"
#include "isa/arch.h"

enum {
	SCRATCH = 3, /* registers that a counter needs */
	A = 0,
	B,
	C,
	LOAD_NOT_STORE = 1 << 22, /* bit of a load, next to the store with the same operands */
	THREAD_SHIFT = 12,        /* of a thread pointer, to become an index */
	PAIR_SHIFT = 4,           /* of an index, to become an offset */
	IDLE_REGISTERS = 7,
	COUNTER_NEAR = 1 << 15,
	COUNTER_END = 1 << 24,
};

/* What may serve as scratch: not x18, which some platforms reserve; not the frame pointer and the
 * link register, by which others may look at the stack meanwhile; not the stack pointer. */
#define USABLE UINT64_C(0x1ffbffff)
#define IDLE   UINT64_C(0xfe00)

/* The registers that a counter works with, and how many of them, from the first on, are saved. */
struct scratch {
	uint8_t reg[SCRATCH];
	uint8_t saved;
};

static uint8_t lowest(uint64_t set)
{
	return (uint8_t)__builtin_ctzll(set);
}

/* Registers that have to be saved are read again right afterwards, by whoever needs them next. It
 * seldom needs those that carry no arguments (x9 to x15): saving others puts a store and a load
 * into the program's way. `turn` has neighbouring probes take different ones, so that one does not
 * wait for the other. */
static struct scratch choose_scratch(const struct regset *free_set, uint32_t turn)
{
	struct scratch s = {.saved = SCRATCH};
	uint64_t rest = USABLE & free_set->core, others = USABLE & ~free_set->core;
	uint64_t idle = others & IDLE, turned = idle & IDLE << turn % IDLE_REGISTERS;

	for (; rest && s.saved > 0; rest &= rest - 1)
		s.reg[--s.saved] = lowest(rest);
	for (unsigned i = 0; i < s.saved; i++) {
		s.reg[i] = lowest(turned ? turned : idle ? idle : others);
		uint64_t keep = ~(UINT64_C(1) << s.reg[i]);
		turned &= keep;
		idle &= keep;
		others &= keep;
	}
	return s;
}

static void save_scratch(struct emit *e, const struct scratch *s)
{
	if (s->saved == 1)
		a64_put(e, a64_push(s->reg[0], 16));
	else if (s->saved > 1)
		a64_put(e, a64_push_pair(s->reg[0], s->reg[1], s->saved == 2 ? 16 : 32));
	if (s->saved == 3)
		a64_put(e, a64_str(s->reg[2], A64_SP, 16));
}

static void restore_scratch(struct emit *e, const struct scratch *s)
{
	if (s->saved == 3)
		a64_put(e, a64_ldr(s->reg[2], A64_SP, 16));
	if (s->saved == 1)
		a64_put(e, a64_pop(s->reg[0], 16));
	else if (s->saved > 1)
		a64_put(e, a64_pop_pair(s->reg[0], s->reg[1], s->saved == 2 ? 16 : 32));
}

static struct emit_target at_label(uint32_t label)
{
	return (struct emit_target){.label = label};
}

static struct emit_target at_pc(uint64_t pc)
{
	return (struct emit_target){.label = LABEL_NONE, .pc = pc};
}

/* C = the area of this thread, or on to the aside. */
static void find_area(struct emit *e, const struct emit_probe *p, const uint8_t *reg)
{
	struct emit_aside aside = {.probe = *p,
				   .here = emit_label(e),
				   .back = emit_label(e),
				   .skip = emit_label(e),
				   .scratch = reg[C]};

	a64_put(e, a64_thread_pointer(reg[A]));
	a64_set_register(e, reg[B], p->table);
	a64_put(e, a64_ubfx(reg[C], reg[A], THREAD_SHIFT, p->table_bits));
	a64_put(e, a64_add_shifted(reg[B], reg[B], reg[C], PAIR_SHIFT));
	a64_put(e, a64_load_pair(reg[B], reg[C], reg[B]));
	a64_put(e, a64_eor(reg[B], reg[B], reg[A]));
	if (a64_reaches(e, A64_DISTANCE_19, at_label(aside.here))) {
		a64_put_to(e, a64_cbnz(reg[B]), A64_DISTANCE_19, at_label(aside.here));
	} else {
		a64_put_to(e, a64_cbz(reg[B]), A64_DISTANCE_19, at_label(aside.back));
		a64_put_to(e, A64_B, A64_DISTANCE_26, at_label(aside.here));
	}
	emit_place(e, aside.back);
	vec_push(&e->asides, aside);
}

static void count(struct emit *e, const struct emit_probe *p)
{
	struct scratch s = choose_scratch(&p->free, e->asides.len * SCRATCH);
	uint32_t offset = p->counter;

	if (offset % 8 || offset >= COUNTER_END) {
		e->failed = true;
		return;
	}
	save_scratch(e, &s);
	find_area(e, p, s.reg);
	if (offset >= COUNTER_NEAR) {
		a64_put(e, a64_add_imm(s.reg[C], s.reg[C], offset & ~UINT32_C(0xfff)));
		offset &= 0xfff;
	}
	a64_put(e, a64_ldr(s.reg[A], s.reg[C], offset));
	a64_put(e, a64_add_imm(s.reg[A], s.reg[A], 1));
	a64_put(e, a64_str(s.reg[A], s.reg[C], offset));
	emit_place(e, vec_last(&e->asides).skip);
	restore_scratch(e, &s);
}

/* ldr, add, str of the counter: from the first of them, unless the last one was executed. */
uint32_t a64_restart(const uint8_t *code, uint32_t size, uint32_t at)
{
	for (uint32_t back = 4; back <= 8 && at >= back && at + 12 - back <= size; back += 4) {
		uint32_t begin = at - back;
		uint32_t load = a64_word(code + begin), add = a64_word(code + begin + 4),
			 store = a64_word(code + begin + 8), reg = load & 31;
		if ((load ^ store) == LOAD_NOT_STORE && add == a64_add_imm(reg, reg, 1) &&
		    load == a64_ldr(reg, load >> 5 & 31, (load >> 10 & 0xfff) * 8))
			return begin;
	}
	return at;
}

static void save_for_call(struct emit *e)
{
	a64_put(e, a64_push_pair(A64_IP0, A64_IP1, RUNTIME_CALL_FRAME_A64));
	a64_put(e, a64_str(A64_LINK, A64_SP, 16));
}

static void call_runtime(struct emit *e, uint64_t routine)
{
	if (a64_reaches(e, A64_DISTANCE_26, at_pc(routine))) {
		a64_put_to(e, A64_BL, A64_DISTANCE_26, at_pc(routine));
	} else {
		a64_set_register(e, A64_IP1, routine);
		a64_put(e, a64_blr(A64_IP1));
	}
}

/* Takes the frame down; the registers in `keep` (bits) stay as they are. */
static void restore_after_call(struct emit *e, uint64_t keep)
{
	bool ip0 = !(keep >> A64_IP0 & 1), ip1 = !(keep >> A64_IP1 & 1);

	if (!(keep >> A64_LINK & 1))
		a64_put(e, a64_ldr(A64_LINK, A64_SP, 16));
	if (ip0 && ip1) {
		a64_put(e, a64_pop_pair(A64_IP0, A64_IP1, RUNTIME_CALL_FRAME_A64));
		return;
	}
	if (ip0)
		a64_put(e, a64_ldr(A64_IP0, A64_SP, 0));
	if (ip1)
		a64_put(e, a64_ldr(A64_IP1, A64_SP, 8));
	a64_put(e, a64_add_imm(A64_SP, A64_SP, RUNTIME_CALL_FRAME_A64));
}

/* The counter's own registers are in `free`, or saved: only C has to survive. */
void a64_aside(struct emit *e, const struct emit_aside *a)
{
	save_for_call(e);
	call_runtime(e, a->probe.find);
	if (a->scratch != A64_IP0)
		a64_put(e, a64_mov(a->scratch, A64_IP0));
	restore_after_call(e, UINT64_C(1) << a->scratch);
	if (a64_reaches(e, A64_DISTANCE_19, at_label(a->skip))) {
		a64_put_to(e, a64_cbz(a->scratch), A64_DISTANCE_19, at_label(a->skip));
	} else {
		a64_put_to(e, a64_cbnz(a->scratch), A64_DISTANCE_19, at_pc(emit_here(e) + 8));
		a64_put_to(e, A64_B, A64_DISTANCE_26, at_label(a->skip));
	}
	a64_put_to(e, A64_B, A64_DISTANCE_26, at_label(a->back));
}

/* x16, x17 and the link register are saved even if free: the routine may ask for their values. */
static void call_routine(struct emit *e, const struct emit_probe *p)
{
	save_for_call(e);
	a64_set_register(e, A64_IP0, p->argument);
	call_runtime(e, p->routine);
	restore_after_call(e, p->free.core);
}

/* Flags that differ from probe to probe, without a register: a compare that sets "equal", then one
 * that is made only if "not equal" and otherwise sets the given flags. */
static void poison_flags(struct emit *e)
{
	const uint32_t subs_zero = 0xeb1f03ff, ccmp_zero_ne = 0xfa5f13e0;
	uint32_t flags = (uint32_t)(emit_here(e) >> 2) & 15;
	a64_put(e, subs_zero);
	a64_put(e, ccmp_zero_ne | flags);
}

/* 0xaa in every byte: no address, and no small number in any part. Predicates are left alone: not
 * every processor has them. */
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

void a64_probe(struct emit *e, const struct emit_probe *p)
{
	if (p->routine)
		call_routine(e, p);
	else
		count(e, p);
	if (p->poison)
		poison(e, &p->free);
}
