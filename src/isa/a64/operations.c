/* The operations of probe code on A64. None of them changes the flags.
 *
 * EMIT_AREA, with registers A, B and d:
 *
 *	mrs   A, tpidr_el0
 *	      B = table
 *	ubfx  d, A, #12, #table_bits
 *	add   B, B, d, lsl #4
 *	ldp   B, d, [B]             ~thread pointer, area
 *	eon   B, B, A
 *	cbnz  B, aside
 * back:
 *
 * and after the fragment, out of the common path:
 *
 * aside:
 *	call find                   leaves the area in x16
 *	mov   d, x16
 *	b     back
 *
 * A vector register counts in its upper half. Its lower half always holds the words 0 and -1. So
 * one instruction, without another register, keeps the lower half and adds 1 to the upper one:
 *
 *	ssubw v.2d, v.2d, v.2s      subtracts the sign-extended words from the halves
 *
 * The calling convention has no red zone: nothing below the stack pointer is in use, so registers
 * that are not free are simply pushed. */
#include "isa/a64/words.h"
#include "isa/arch.h"
#include "isa/ops.h"

enum {
	THREAD_SHIFT = 12,      /* from a thread pointer to an index */
	PAIR_SHIFT = 4,         /* from an index to an offset */
	NO_ARGUMENTS_COUNT = 7, /* registers in NO_ARGUMENTS */
	MIN_OFFSET = -256,      /* lowest and highest offset that one load or store reaches */
	MAX_OFFSET = 32760,
	MIN_PAIR_OFFSET = -512,
	MAX_PAIR_OFFSET = 504,
	ADD_LIMIT = 1 << 24, /* limit of constants that two instructions can add */
	PAGE = 1 << 12,
	SIGN = 63,
	CB_OPPOSITE = 1 << 24, /* the bit in which cbz and cbnz differ */
};

/* Registers that may serve as scratch: not x18, which some platforms reserve; not the frame pointer
 * and the link register, which others may need to walk the stack at any time; not the stack
 * pointer. */
#define USABLE       UINT64_C(0x1ffbffff)
#define NO_ARGUMENTS UINT64_C(0xfe00) /* x9 to x15 */

static struct emit_target at_label(uint32_t label)
{
	return (struct emit_target){.label = label};
}

static unsigned reg_of(const struct op_writer *w, uint8_t operand)
{
	if (operand == EMIT_ZERO)
		return A64_ZERO;
	return operand < EMIT_VALUES ? w->reg[operand] : operand % 32u;
}

static bool is_near(int64_t offset)
{
	return offset >= MIN_OFFSET && offset <= MAX_OFFSET;
}

static bool is_addable(int64_t imm)
{
	return imm > -ADD_LIMIT && imm < ADD_LIMIT;
}

/* The number of registers the operation needs besides those that it names. */
static unsigned temporaries(const struct emit *e, const struct emit_op *op)
{
	switch (op->kind) {
	case EMIT_AREA: return 2;
	case EMIT_STORE:
	case EMIT_COUNT:
	case EMIT_COUNT_VALUE: return !is_near(op->imm);
	case EMIT_ADD: return op->d == op->a && !is_addable(op->imm);
	case EMIT_UNLESS_NEGATIVE:
	case EMIT_IF_NEGATIVE: return e->extent > A64_SMALL_SIZE;
	default: return 0;
	}
}

static const struct op_needs needs = {.temporaries = temporaries};

static uint8_t lowest(uint64_t set)
{
	return (uint8_t)__builtin_ctzll(set);
}

/* Chooses free registers first, then registers to save. Code after the probe reads a saved register
 * right away, and then waits for the store and the load around the probe. x9 to x15 carry no
 * arguments and are seldom read so soon, so they are preferred. Neighbouring probes take different
 * ones, so that one does not wait for the other. Returns the registers to save. */
static uint64_t choose_registers(struct op_writer *w)
{
	uint64_t usable = USABLE & ~w->p->held.core, unused = usable & w->p->free.core;
	uint64_t others = usable & ~unused, saved = 0;

	for (unsigned i = 0, rest = ops_registers(w, &needs); i < EMIT_REGISTERS; i++) {
		uint64_t idle = others & NO_ARGUMENTS;
		uint64_t turned = idle & NO_ARGUMENTS << w->e->saved % NO_ARGUMENTS_COUNT;
		w->reg[i] = REG_NONE;
		if (!(rest >> i & 1))
			continue;
		uint64_t from = unused ? unused : turned ? turned : idle ? idle : others;
		uint64_t bit = from & -from;
		if (!from) {
			w->e->failed = true;
			return 0;
		}
		w->reg[i] = lowest(bit);
		saved |= bit & others;
		w->e->saved += (bit & others) != 0;
		unused &= ~bit;
		others &= ~bit;
	}
	return saved;
}

static unsigned list(uint64_t set, uint8_t *out)
{
	unsigned n = 0;
	for (; set; set &= set - 1)
		out[n++] = lowest(set);
	return n;
}

static void save(struct op_writer *w, uint64_t set)
{
	uint8_t r[EMIT_REGISTERS];
	unsigned n = list(set, r);
	w->pushed = (uint16_t)((n + 1) / 2 * 16);
	if (n == 1)
		a64_put(w->e, a64_push(r[0], w->pushed));
	else if (n)
		a64_put(w->e, a64_push_pair(r[0], r[1], w->pushed));
	for (unsigned i = 2; i < n; i += 2)
		a64_put(w->e, i + 1 < n ? a64_store_pair(r[i], r[i + 1], A64_SP, (int32_t)i * 8)
					: a64_str(r[i], A64_SP, (int32_t)i * 8));
}

static void restore(struct op_writer *w, uint64_t set)
{
	uint8_t r[EMIT_REGISTERS];
	unsigned n = list(set, r);
	for (unsigned i = 2; i < n; i += 2)
		a64_put(w->e, i + 1 < n ? a64_load_pair(r[i], r[i + 1], A64_SP, (int32_t)i * 8)
					: a64_ldr(r[i], A64_SP, (int32_t)i * 8));
	if (n == 1)
		a64_put(w->e, a64_pop(r[0], w->pushed));
	else if (n)
		a64_put(w->e, a64_pop_pair(r[0], r[1], w->pushed));
}

/* Branches to the label if the register is not zero, or with `zero` if it is zero. */
static void branch(struct emit *e, unsigned reg, bool zero, uint32_t label)
{
	uint32_t word = zero ? a64_cbz(reg) : a64_cbnz(reg);
	if (a64_reaches(e, A64_DISTANCE_19, at_label(label))) {
		a64_put_to(e, word, A64_DISTANCE_19, at_label(label));
		return;
	}
	struct emit_target over = {.label = LABEL_NONE, .pc = emit_here(e) + 8};
	a64_put_to(e, word ^ CB_OPPOSITE, A64_DISTANCE_19, over);
	a64_put_to(e, A64_B, A64_DISTANCE_26, at_label(label));
}

static void branch_by_sign(struct op_writer *w, uint32_t at, bool negative)
{
	const struct emit_op *op = &w->p->ops[at];
	unsigned reg = reg_of(w, op->a);
	struct emit_target aside = at_label(w->asides[op->imm]);
	if (!temporaries(w->e, op)) {
		a64_put_to(w->e, negative ? a64_tbnz(reg, SIGN) : a64_tbz(reg, SIGN),
			   A64_DISTANCE_14, aside);
		return;
	}
	unsigned sign = ops_temporary(w, at, 0);
	a64_put(w->e, a64_lsr(sign, reg, SIGN));
	branch(w->e, sign, !negative, aside.label);
}

static void find_area(struct op_writer *w, uint32_t at, unsigned d)
{
	struct emit *e = w->e;
	unsigned a = ops_temporary(w, at, 0), b = ops_temporary(w, at, 1);
	uint32_t here = emit_label(e), back = emit_label(e);

	a64_put(e, a64_thread_pointer(a));
	a64_set_register(e, b, w->p->table);
	a64_put(e, a64_ubfx(d, a, THREAD_SHIFT, w->p->table_bits));
	a64_put(e, a64_add_shifted(b, b, d, PAIR_SHIFT));
	a64_put(e, a64_load_pair(b, d, b, 0));
	a64_put(e, a64_eon(b, b, a));
	branch(e, b, false, here);
	emit_place(e, back);
	ops_put_find(w, here, back, (uint8_t)d);
}

/* d = n + imm, where n may be the stack pointer. `other` is only used if two instructions do not
 * suffice; it may be d if d is not n. */
static void add(struct emit *e, unsigned d, unsigned n, int64_t imm, unsigned other)
{
	bool down = imm < 0;
	uint32_t size = (uint32_t)(down ? -(uint64_t)imm : (uint64_t)imm);
	uint32_t low = size % PAGE, high = size - low;
	if (!is_addable(imm)) {
		a64_set_register(e, other, (uint64_t)imm);
		a64_put(e, a64_add_extended(d, n, other));
		return;
	}
	if (high)
		a64_put(e, down ? a64_sub_imm(d, n, high) : a64_add_imm(d, n, high));
	if (high)
		n = d;
	if (low || d != n)
		a64_put(e, down ? a64_sub_imm(d, n, low) : a64_add_imm(d, n, low));
}

/* Returns a base register and changes *offset so that one instruction can access [a + *offset]. The
 * base may be `other`, which is then set. */
static unsigned reach(struct emit *e, unsigned a, int64_t *offset, unsigned other)
{
	if (is_near(*offset))
		return a;
	int64_t low = *offset & (PAGE - 1);
	add(e, other, a, *offset - low, other);
	*offset = low;
	return other;
}

static void store(struct op_writer *w, uint32_t at)
{
	const struct emit_op *op = &w->p->ops[at];
	int64_t offset = op->imm;
	unsigned base = reg_of(w, op->a);
	if (!is_near(offset))
		base = reach(w->e, base, &offset, ops_temporary(w, at, 0));
	a64_put(w->e, a64_str(reg_of(w, op->b), base, (int32_t)offset));
}

static void load(struct op_writer *w, const struct emit_op *op)
{
	int64_t offset = op->imm;
	unsigned d = reg_of(w, op->d), base = reach(w->e, reg_of(w, op->a), &offset, d);
	a64_put(w->e, a64_ldr(d, base, (int32_t)offset));
}

/* Load, add, store: a64_restart() recognises this form. */
static void count(struct op_writer *w, uint32_t at, uint32_t addition)
{
	const struct emit_op *op = &w->p->ops[at];
	int64_t offset = op->imm;
	unsigned d = reg_of(w, op->d), base = reg_of(w, op->a);
	if (!is_near(offset))
		base = reach(w->e, base, &offset, ops_temporary(w, at, 0));
	a64_put(w->e, a64_ldr(d, base, (int32_t)offset));
	a64_put(w->e, addition);
	a64_put(w->e, a64_str(d, base, (int32_t)offset));
}

uint32_t a64_restart(const uint8_t *code, uint32_t size, uint32_t at)
{
	for (uint32_t back = 4; back <= 8; back += 4) {
		uint32_t begin = at - back;
		if (at < back || begin + 12 > size)
			continue;
		uint32_t load = a64_word(code + begin), sum = a64_word(code + begin + 4),
			 store = a64_word(code + begin + 8);
		unsigned reg = load & 31, base = load >> 5 & 31, other = sum >> 16 & 31;
		bool scaled = load == a64_ldr(reg, base, (int32_t)(load >> 10 & 0xfff) * 8);
		bool below = (load & 0xfff00c00) == 0xf8500000; /* negative offset */
		bool adds = sum == a64_add_imm(reg, reg, 1) ||
			    (sum == a64_add_shifted(reg, reg, other, 0) && other != reg);
		if ((load ^ store) == A64_LOAD_NOT_STORE && (scaled || below) && adds &&
		    base != reg)
			return begin;
	}
	return at;
}

/* Calls the routine; d = its result. All other registers are preserved. */
static void call(const struct op_writer *w, uint64_t routine, const uint64_t *argument, unsigned d)
{
	struct emit *e = w->e;
	a64_put(e, a64_push_pair(A64_IP0, A64_IP1, RUNTIME_CALL_FRAME_A64));
	a64_put(e, a64_add_imm(A64_IP1, A64_SP, RUNTIME_CALL_FRAME_A64 + (uint32_t)w->pushed));
	a64_put(e, a64_store_pair(A64_LINK, A64_IP1, A64_SP, 16));
	if (argument)
		a64_set_register(e, A64_IP0, *argument);
	a64_call_runtime(e, routine);
	if (d != A64_IP0)
		a64_put(e, a64_mov(d, A64_IP0));
	a64_restore_after_call(e, UINT64_C(1) << d);
}

static void write_one(struct op_writer *w, uint32_t at)
{
	const struct emit_op *op = &w->p->ops[at];
	struct emit *e = w->e;
	unsigned d = reg_of(w, op->d), a = reg_of(w, op->a), b = reg_of(w, op->b);
	unsigned imm = op->imm & 63;

	switch (op->kind) {
	case EMIT_AREA: find_area(w, at, d); break;
	case EMIT_SET: a64_set_register(e, d, (uint64_t)op->imm); break;
	case EMIT_MOVE:
		if (d != a)
			a64_put(e, a64_mov(d, a));
		break;
	case EMIT_STACK: add(e, d, A64_SP, (int64_t)((uint64_t)op->imm + w->pushed), d); break;
	case EMIT_LOAD: load(w, op); break;
	case EMIT_STORE: store(w, at); break;
	case EMIT_ADD:
		add(e, d, a, op->imm, temporaries(e, op) ? ops_temporary(w, at, 0) : d);
		break;
	case EMIT_ADD_SHIFTED: a64_put(e, a64_add_shifted(d, a, b, imm)); break;
	case EMIT_SUB_SHIFTED: a64_put(e, a64_sub_shifted(d, a, b, imm)); break;
	case EMIT_XOR: a64_put(e, a64_eor(d, a, b)); break;
	case EMIT_LOW_BITS: a64_put(e, imm ? a64_ubfx(d, a, 0, imm) : a64_mov(d, A64_ZERO)); break;
	case EMIT_SHIFT_RIGHT: a64_put(e, a64_lsr(d, a, imm)); break;
	case EMIT_COUNT: count(w, at, a64_add_imm(d, d, 1)); break;
	case EMIT_COUNT_VALUE: count(w, at, a64_add_shifted(d, d, b, 0)); break;
	case EMIT_UNLESS_ZERO: branch(e, a, false, w->asides[imm]); break;
	case EMIT_IF_ZERO: branch(e, a, true, w->asides[imm]); break;
	case EMIT_UNLESS_NEGATIVE: branch_by_sign(w, at, false); break;
	case EMIT_IF_NEGATIVE: branch_by_sign(w, at, true); break;
	case EMIT_CALL: call(w, w->p->routine, &w->p->argument, d); break;
	case EMIT_VECTOR_BEGIN: a64_put(e, a64_vector_zero_minus_one(d)); break;
	case EMIT_VECTOR_COUNT: a64_put(e, a64_ssubw(d, d, d)); break;
	case EMIT_VECTOR_READ: a64_put(e, a64_vector_high(d, a)); break;
	case EMIT_TO_VECTOR: a64_put(e, a64_to_vector(d, a)); break;
	case EMIT_FROM_VECTOR: a64_put(e, a64_from_vector(d, a)); break;
	default: e->failed = true;
	}
}

/* Writes two loads or two stores of adjacent words as one instruction. */
static bool write_pair(struct op_writer *w, const struct emit_op *x)
{
	const struct emit_op *y = x + 1, *first = x->imm < y->imm ? x : y;
	const struct emit_op *second = first == x ? y : x;
	bool loads = x->kind == EMIT_LOAD;

	if ((!loads && x->kind != EMIT_STORE) || y->kind != x->kind || x->a != y->a ||
	    second->imm - first->imm != 8 || first->imm < MIN_PAIR_OFFSET ||
	    first->imm > MAX_PAIR_OFFSET || (loads && (x->d == y->d || x->d == x->a)))
		return false;
	unsigned base = reg_of(w, x->a);
	int32_t offset = (int32_t)first->imm;
	a64_put(w->e,
		loads ? a64_load_pair(reg_of(w, first->d), reg_of(w, second->d), base, offset)
		      : a64_store_pair(reg_of(w, first->b), reg_of(w, second->b), base, offset));
	return true;
}

static void write_all(struct op_writer *w, uint32_t from, uint32_t end)
{
	for (uint32_t i = from; i < end; i++) {
		if (i + 1 < end && write_pair(w, &w->p->ops[i]))
			i++;
		else
			write_one(w, i);
	}
}

void a64_operations(struct emit *e, const struct emit_probe *p)
{
	struct op_writer w = {.e = e, .p = p};
	if (!ops_are_valid(p)) {
		e->failed = true;
		return;
	}
	uint64_t saved = choose_registers(&w);
	save(&w, saved);
	ops_put(&w, write_all);
	restore(&w, saved);
}

void a64_aside(struct emit *e, const struct emit_aside *a)
{
	struct op_writer w = ops_resume(e, a);
	if (a->area != REG_NONE)
		call(&w, a->probe.find, NULL, a->area);
	else
		write_all(&w, a->from, a->end);
	a64_put_to(e, A64_B, A64_DISTANCE_26, at_label(a->back));
}
