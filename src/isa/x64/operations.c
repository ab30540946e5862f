/* The operations of probe code on x86-64.
 *
 * Programs use the 128 bytes below their stack pointer (the red zone). So the stack pointer is
 * lowered by as much before anything is pushed, with lea, which does not change the flags. Where
 * the program's flags are live, operations avoid changing them if they can; for the others the
 * flags are kept in rax during the probe.
 *
 * The thread pointer is read with rdfsbase. The code may only be put into a program if the kernel
 * allows that (bit 1 of AT_HWCAP2). CPUs that have rdfsbase also have lahf in 64-bit mode. */
#include <string.h>

#include "isa/ops.h"
#include "isa/x64/encode.h"
#include "isa/x64/x64.h"

enum {
	TABLE_BITS_MAX = 26, /* the mask of the index has to fit in an immediate */
	INDEX_SHIFT_MAX = 3, /* largest shift in an address */
	IMMEDIATE = 0x81,    /* opcodes, and the reg fields that select the operation */
	IMMEDIATE_SHORT = 0x83,
	AND_FIELD = 4,
	COMPARE_FIELD = 7,
	NOT = 0xf7,
	NOT_FIELD = 2,
};

/* Registers and flags that a probe saves, and where. */
struct saved_state {
	uint8_t registers[EMIT_REGISTERS + 1];
	uint8_t count;
	bool in_vectors; /* they are saved in free vector registers, else pushed */
	uint8_t rax_in;  /* the free register that holds rax; REG_NONE: rax is free, pushed or not
			    saved */
	bool flags;      /* the flags are saved: in rax, or pushed if pushes_flags */
	bool pushes_flags;
};

static unsigned reg_of(const struct op_writer *w, uint8_t operand)
{
	return operand < EMIT_VALUES ? w->reg[operand] : operand % 32u;
}

static bool fits(int64_t imm)
{
	return imm == (int32_t)imm;
}

static unsigned temporaries(const struct emit *e, const struct emit_op *op)
{
	(void)e;
	bool shifts = op->imm > INDEX_SHIFT_MAX, twice = op->d == op->a;
	switch (op->kind) {
	case EMIT_AREA: return 1;
	case EMIT_ADD: return twice && !fits(op->imm);
	case EMIT_ADD_SHIFTED: return twice && shifts;
	case EMIT_SUB_SHIFTED: return twice && (shifts || op->a == op->b);
	default: return 0;
	}
}

/* Whether the operation cannot be written without changing the flags. */
static bool needs_flags(const struct emit_op *op)
{
	switch (op->kind) {
	case EMIT_AREA:
	case EMIT_XOR: return true;
	case EMIT_ADD_SHIFTED:
	case EMIT_SUB_SHIFTED: return op->imm > INDEX_SHIFT_MAX;
	case EMIT_LOW_BITS: return op->imm % 32 && op->imm != 8 && op->imm != 16;
	case EMIT_SHIFT_RIGHT: return op->imm > 0;
	default: return op_branches(op);
	}
}

/* Whether the flags reflect the value of d afterwards. */
static bool sets_flags(const struct emit_op *op)
{
	return needs_flags(op) &&
	       (op->kind == EMIT_XOR || op->kind == EMIT_LOW_BITS || op->kind == EMIT_SHIFT_RIGHT);
}

static bool need_flags(const struct emit_probe *p)
{
	for (uint32_t i = 0; i < p->op_count; i++)
		if (needs_flags(&p->ops[i]))
			return true;
	return false;
}

static bool has_flags(const struct emit_probe *p)
{
	return regset_has(&p->free, REG_FLAGS) || need_flags(p);
}

static bool tests_for_zero(const struct emit_op *op)
{
	return op->kind == EMIT_UNLESS_ZERO || op->kind == EMIT_IF_ZERO;
}

/* Whether the result of the operation is used only by a branch right after it, for which the flags
 * are enough. */
static bool is_only_tested(const struct emit_probe *p, uint32_t at)
{
	const struct emit_op *op = &p->ops[at], *next = op + 1;
	bool zero = op->kind == EMIT_XOR || op->kind == EMIT_LOW_BITS;
	if (!zero && !(op->kind == EMIT_ADD && fits(op->imm) && op->imm != INT32_MIN))
		return false;
	return ops_are_together(p, at) && op_branches(next) && next->a == op->d &&
	       (!zero || tests_for_zero(next)) && op->d < EMIT_VALUES &&
	       !ops_need(p, at + 1, op->d);
}

/* Whether the operation becomes a comparison, which leaves no result. */
static bool is_comparison(const struct emit_probe *p, uint32_t at)
{
	return p->ops[at].kind != EMIT_LOW_BITS && is_only_tested(p, at);
}

/* Whether only a comparison right after it needs what the operation loads: it can compare with
 * memory. */
static bool is_only_compared(const struct emit_probe *p, uint32_t at)
{
	const struct emit_op *op = &p->ops[at], *next = op + 1;
	if (op->kind != EMIT_LOAD || op->d >= EMIT_VALUES || !ops_are_together(p, at) ||
	    !is_comparison(p, at + 1) || (next->d != op->d && ops_need(p, at + 1, op->d)))
		return false;
	return next->kind == EMIT_ADD ? next->a == op->d : (next->a == op->d) != (next->b == op->d);
}

/* The values needed in registers. Counters are incremented in memory if the flags may change, and
 * tests need only the flags. */
static uint8_t values(const struct emit_probe *p, uint32_t at)
{
	const struct emit_op *op = &p->ops[at];
	if (at && is_only_compared(p, at - 1))
		return op_reads(op) & (uint8_t)~op_writes(op - 1);
	if ((op_counts(op) && has_flags(p)) || is_comparison(p, at) || is_only_compared(p, at))
		return op_reads(op);
	return at && is_comparison(p, at - 1) ? 0 : op_names(op);
}

static const struct op_needs needs = {.values = values, .temporaries = temporaries};

/* Takes a free register, or else one that has to be pushed. */
static uint8_t take_register(struct op_writer *w, struct saved_state *k, uint64_t *unused,
			     uint64_t *others)
{
	uint64_t *from = *unused ? unused : others;
	if (!*from) {
		w->e->failed = true;
		return 0;
	}
	uint8_t reg = (uint8_t)__builtin_ctzll(*from);
	if (from == others)
		k->registers[k->count++] = reg;
	*from &= *from - 1;
	return reg;
}

static uint32_t free_vectors(const struct emit_probe *p)
{
	return p->free.vec & ~p->held.vec & 0xffff;
}

static struct saved_state choose_registers(struct op_writer *w)
{
	const struct emit_probe *p = w->p;
	struct saved_state k = {.rax_in = REG_NONE};
	uint64_t usable = 0xffff & ~X64_BIT(X64_RSP) & ~p->held.core;
	k.flags = !regset_has(&p->free, REG_FLAGS) && need_flags(p);
	k.pushes_flags = k.flags && regset_has(&p->held, X64_RAX);
	w->flags = has_flags(p);
	if (k.flags)
		usable &= ~X64_BIT(X64_RAX);
	uint64_t unused = usable & p->free.core, others = usable & ~unused;
	unsigned wanted = ops_registers(w, &needs);
	for (unsigned i = 0; i < EMIT_REGISTERS; i++)
		w->reg[i] = wanted >> i & 1 ? take_register(w, &k, &unused, &others)
					    : (uint8_t)REG_NONE;
	bool saves_rax = k.flags && !k.pushes_flags && !regset_has(&p->free, X64_RAX);
	if (saves_rax && unused)
		k.rax_in = take_register(w, &k, &unused, &others);
	else if (saves_rax)
		k.registers[k.count++] = X64_RAX;
	k.in_vectors = !k.pushes_flags && __builtin_popcount(free_vectors(p)) >= k.count;
	return k;
}

/* Saves or restores registers in vector registers, the last ones first, which programs use
 * least. */
static void keep_in_vectors(struct op_writer *w, const struct saved_state *k, uint8_t opcode)
{
	uint32_t vectors = free_vectors(w->p);
	for (unsigned i = 0; i < k->count; i++) {
		unsigned vector = 31 - (unsigned)__builtin_clz(vectors);
		x64_vectors_form(w->e, opcode, vector, k->registers[i]);
		vectors &= ~(UINT32_C(1) << vector);
	}
}

/* lahf saves all flags except overflow, which seto saves in al as 0 or 1. Adding 0x7f to that
 * restores it. */
static void save(struct op_writer *w, const struct saved_state *k)
{
	unsigned words = (k->in_vectors ? 0u : k->count) + k->pushes_flags;
	if (words)
		x64_move_stack(w->e, -X64_RED_ZONE);
	if (k->in_vectors)
		keep_in_vectors(w, k, X64_VECTOR_FROM_GENERAL);
	for (unsigned i = 0; !k->in_vectors && i < k->count; i++)
		x64_push(w->e, k->registers[i]);
	if (k->pushes_flags)
		x64_byte(w->e, X64_PUSH_FLAGS);
	if (k->rax_in != REG_NONE)
		x64_registers_form(w->e, X64_STORE, X64_RAX, k->rax_in);
	if (k->flags && !k->pushes_flags)
		emit_bytes(w->e, "\x9f\x0f\x90\xc0", 4); /* lahf; seto %al */
	w->pushed = words ? (uint16_t)(X64_RED_ZONE + 8 * words) : 0;
}

static void restore(struct op_writer *w, const struct saved_state *k)
{
	if (k->flags && !k->pushes_flags)
		emit_bytes(w->e, "\x04\x7f\x9e", 3); /* add $0x7f, %al; sahf */
	if (k->rax_in != REG_NONE)
		x64_registers_form(w->e, X64_LOAD, X64_RAX, k->rax_in);
	if (k->pushes_flags)
		x64_byte(w->e, X64_POP_FLAGS);
	if (k->in_vectors)
		keep_in_vectors(w, k, X64_VECTOR_TO_GENERAL);
	for (unsigned i = k->count; !k->in_vectors && i-- > 0;)
		x64_pop(w->e, k->registers[i]);
	if (w->pushed)
		x64_move_stack(w->e, X64_RED_ZONE);
}

static void move(struct emit *e, unsigned d, unsigned a)
{
	if (d != a)
		x64_registers_form(e, X64_STORE, a, d);
}

static void shift(struct emit *e, unsigned field, unsigned d, unsigned by)
{
	if (!by)
		return;
	x64_registers_form(e, X64_SHIFT, field, d);
	x64_byte(e, by);
}

/* Puts the address of the table entry into d, then loads the area from there. If the entry belongs
 * to another thread, the aside finds the area. An entry has 16 bytes, so the thread pointer is
 * shifted by 8 instead of 12. */
static void find_area(struct op_writer *w, uint32_t at, unsigned d)
{
	struct emit *e = w->e;
	uint8_t thread = ops_temporary(w, at, 0);
	uint32_t here = emit_label(e), back = emit_label(e);
	if (w->p->table_bits > TABLE_BITS_MAX) {
		e->failed = true;
		return;
	}
	x64_byte(e, 0xf3); /* rdfsbase */
	x64_byte(e, thread & 8 ? 0x49 : 0x48);
	emit_bytes(e, "\x0f\xae", 2);
	x64_byte(e, 0xc0u | (thread & 7));
	move(e, d, thread);
	shift(e, X64_SHIFT_RIGHT, d, 8);
	x64_registers_form(e, IMMEDIATE, AND_FIELD, d);
	x64_word(e, ((UINT32_C(1) << w->p->table_bits) - 1) << 4);
	x64_registers_form(e, NOT, NOT_FIELD, thread);
	x64_literal_form(e, X64_ADD, d, emit_literal(e, w->p->table, 0));
	x64_memory_form(e, X64_COMPARE, thread, d, 0);
	x64_jump_if(e, X64_JNE32, (struct emit_target){.label = here});
	x64_memory_form(e, X64_LOAD, d, d, 8);
	emit_place(e, back);
	ops_put_find(w, here, back, (uint8_t)d);
}

/* d = base + imm, where the base may be the stack pointer. `other` is used if imm is large; it may
 * be d if d is not the base. */
static void add(struct emit *e, unsigned d, unsigned base, int64_t imm, unsigned other)
{
	if (!fits(imm)) {
		x64_set_register(e, other, (uint64_t)imm);
		x64_indexed_form(e, X64_LEA, d, base, other, 0, 0);
	} else if (imm) {
		x64_memory_form(e, X64_LEA, d, base, (int32_t)imm);
	} else {
		move(e, d, base);
	}
}

/* d = b << by */
static void shift_left(struct emit *e, unsigned d, unsigned b, unsigned by)
{
	if (by && by <= INDEX_SHIFT_MAX) {
		x64_indexed_form(e, X64_LEA, d, REG_NONE, b, by, 0);
		return;
	}
	move(e, d, b);
	shift(e, X64_SHIFT_LEFT, d, by);
}

static void add_shifted(struct op_writer *w, uint32_t at, unsigned d, unsigned a, unsigned b)
{
	unsigned by = w->p->ops[at].imm & 63;
	if (by <= INDEX_SHIFT_MAX) {
		x64_indexed_form(w->e, X64_LEA, d, a, b, by, 0);
		return;
	}
	unsigned other = d == a ? ops_temporary(w, at, 0) : d;
	shift_left(w->e, other, b, by);
	x64_indexed_form(w->e, X64_LEA, d, a, other, 0, 0);
}

/* If the flags must not change, only lea can be used, which adds. Since -x is ~x + 1, a - x is a +
 * ~x + 1, and also ~(~a + x). */
static void sub_shifted(struct op_writer *w, uint32_t at, unsigned d, unsigned a, unsigned b)
{
	struct emit *e = w->e;
	const struct emit_op *op = &w->p->ops[at];
	unsigned by = op->imm & 63;
	if (d == a && b != a && by == 0 && w->flags) {
		x64_registers_form(e, X64_SUB, d, b);
	} else if (d == a && !temporaries(e, op)) {
		x64_registers_form(e, X64_UNARY, X64_UNARY_NOT, d);
		x64_indexed_form(e, X64_LEA, d, d, b, by, 0);
		x64_registers_form(e, X64_UNARY, X64_UNARY_NOT, d);
	} else {
		unsigned other = d == a ? ops_temporary(w, at, 0) : d;
		shift_left(e, other, b, by);
		x64_registers_form(e, X64_UNARY, X64_UNARY_NOT, other);
		x64_indexed_form(e, X64_LEA, d, a, other, 0, 1);
	}
}

static void exclusive_or(struct emit *e, unsigned d, unsigned a, unsigned b)
{
	if (d != b)
		move(e, d, a);
	x64_registers_form(e, X64_XOR, d, d == b ? a : b);
}

static void immediate(struct emit *e, int64_t imm)
{
	if (imm == (int8_t)imm)
		x64_byte(e, (uint8_t)imm);
	else
		x64_word(e, (uint32_t)imm);
}

/* Writes a comparison of a register or memory with what the reg field of the opcode names. */
static void compare_with(struct op_writer *w, uint32_t at, uint8_t opcode, unsigned field,
			 uint8_t a)
{
	const struct emit_op *from = &w->p->ops[at] - 1;
	if (at && is_only_compared(w->p, at - 1))
		x64_memory_form(w->e, opcode, field, reg_of(w, from->a), (int32_t)from->imm);
	else
		x64_registers_form(w->e, opcode, field, reg_of(w, a));
}

/* Compares what EMIT_XOR or EMIT_ADD would combine. */
static void compare(struct op_writer *w, uint32_t at)
{
	const struct emit_op *op = &w->p->ops[at];
	bool swap = at && is_only_compared(w->p, at - 1) && op->a == op[-1].d;
	if (op->kind == EMIT_XOR) {
		compare_with(w, at, X64_COMPARE, reg_of(w, swap ? op->b : op->a), op->b);
		return;
	}
	bool is_short = -op->imm == (int8_t)-op->imm;
	compare_with(w, at, is_short ? IMMEDIATE_SHORT : IMMEDIATE, COMPARE_FIELD, op->a);
	immediate(w->e, -op->imm);
}

/* `tested`: only the zero flag is needed. */
static void low_bits(struct emit *e, unsigned d, unsigned a, unsigned bits, bool tested)
{
	uint64_t mask = (UINT64_C(1) << bits) - 1;
	if (bits == 0) {
		x64_set_register(e, d, 0);
	} else if (bits == 8 || bits == 16 || bits == 32) {
		x64_zero_extend(e, d, a, bits);
	} else if (bits > 31) {
		move(e, d, a);
		shift(e, X64_SHIFT_LEFT, d, 64 - bits);
		if (!tested)
			shift(e, X64_SHIFT_RIGHT, d, 64 - bits);
	} else {
		move(e, d, a);
		x64_registers_form(e, mask > INT8_MAX ? IMMEDIATE : IMMEDIATE_SHORT, AND_FIELD, d);
		immediate(e, (int64_t)mask);
	}
}

static void store(struct op_writer *w, const struct emit_op *op)
{
	unsigned a = reg_of(w, op->a);
	if (op->b != EMIT_ZERO) {
		x64_memory_form(w->e, X64_STORE, reg_of(w, op->b), a, (int32_t)op->imm);
		return;
	}
	x64_memory_form(w->e, X64_SET, 0, a, (int32_t)op->imm);
	x64_word(w->e, 0);
}

/* Counts in one instruction, so that the count of a signal handler is never lost. If the flags must
 * not change it takes three, in a form that x64_restart() recognises. */
static void count(struct op_writer *w, const struct emit_op *op)
{
	struct emit *e = w->e;
	unsigned d = reg_of(w, op->d), a = reg_of(w, op->a);
	bool one = op->kind == EMIT_COUNT;
	int32_t offset = (int32_t)op->imm;
	if (w->flags) {
		if (one)
			x64_memory_form(e, X64_ONE, X64_ONE_INC, a, offset);
		else
			x64_memory_form(e, X64_ADD_TO, reg_of(w, op->b), a, offset);
		return;
	}
	x64_memory_form(e, X64_LOAD, d, a, offset);
	if (one)
		x64_memory_form(e, X64_LEA, d, d, 1);
	else
		x64_indexed_form(e, X64_LEA, d, d, reg_of(w, op->b), 0, 0);
	x64_memory_form(e, X64_STORE, d, a, offset);
}

/* The length of an instruction with this opcode that x64_memory_form() wrote with an 8- or 32-bit
 * displacement; 0 if it is not one. */
static uint32_t memory_length(const uint8_t *p, uint32_t size, uint8_t opcode)
{
	if (size < 4 || (p[0] & 0xf8) != 0x48 || p[1] != opcode)
		return 0;
	unsigned mod = p[2] >> 6;
	uint32_t length = 3u + ((p[2] & 7) == X64_RSP) + (mod == 1 ? 1 : 4);
	return (mod == 1 || mod == 2) && length <= size ? length : 0;
}

static unsigned reg_field(const uint8_t *p)
{
	return (p[0] & 4u) << 1 | (p[2] >> 3 & 7u);
}

/* Whether a counter update begins here. If so, *sum and *store are the offsets of its other
 * instructions. */
static bool is_count(const uint8_t *p, uint32_t size, uint32_t *sum, uint32_t *store)
{
	*sum = memory_length(p, size, X64_LOAD);
	if (!*sum)
		return false;
	uint32_t more = memory_length(p + *sum, size - *sum, X64_LEA);
	*store = *sum + more;
	return more && *store + *sum <= size && reg_field(p + *sum) == reg_field(p) &&
	       p[*store] == p[0] && p[*store + 1] == X64_STORE &&
	       memcmp(p + *store + 2, p + 2, *sum - 2) == 0;
}

uint32_t x64_restart(const uint8_t *code, uint32_t size, uint32_t at)
{
	enum { LOAD_MAX = 8, SUM_MAX = 5 }; /* bytes of the longest forms */
	for (uint32_t back = 1; back <= LOAD_MAX + SUM_MAX && back <= at; back++) {
		uint32_t sum, store;
		if (is_count(code + at - back, size - (at - back), &sum, &store) &&
		    (back == sum || back == store))
			return at - back;
	}
	return at;
}

static void branch(struct op_writer *w, uint8_t condition, const struct emit_op *op)
{
	unsigned a = reg_of(w, op->a);
	if (w->tested != op->a)
		x64_registers_form(w->e, X64_TEST, a, a);
	w->tested = op->a;
	x64_jump_if(w->e, condition, (struct emit_target){.label = w->asides[op->imm]});
}

/* Calls the routine; d = its result. All other registers are preserved, the flags are not. */
static void call(const struct op_writer *w, uint64_t routine, const uint64_t *argument, unsigned d)
{
	struct emit *e = w->e;
	int32_t frame = 16 + (w->pushed ? 0 : X64_RED_ZONE);
	x64_move_stack(e, -frame);
	x64_memory_form(e, X64_STORE, X64_RAX, X64_RSP, 0);
	x64_memory_form(e, X64_LEA, X64_RAX, X64_RSP, frame + w->pushed);
	x64_memory_form(e, X64_STORE, X64_RAX, X64_RSP, 8);
	if (argument)
		x64_set_register(e, X64_RAX, *argument);
	x64_literal_form(e, X64_ONE, X64_ONE_CALL, emit_literal(e, routine, 0));
	if (d != X64_RAX) {
		move(e, d, X64_RAX);
		x64_memory_form(e, X64_LOAD, X64_RAX, X64_RSP, 0);
	}
	x64_move_stack(e, frame);
}

/* The 1 to add is a constant in memory: no instruction adds an immediate to a vector register. */
static void write_vector_op(struct emit *e, const struct emit_op *op, unsigned d, unsigned a)
{
	bool from = op->kind == EMIT_VECTOR_READ || op->kind == EMIT_FROM_VECTOR;
	if ((from ? a : d) > 15) {
		e->failed = true;
		return;
	}
	switch (op->kind) {
	case EMIT_VECTOR_BEGIN: x64_vectors_form(e, X64_VECTOR_XOR, d, d); break;
	case EMIT_VECTOR_COUNT:
		x64_vector_literal_form(e, X64_VECTOR_ADD, d, emit_literal(e, 1, 0));
		break;
	case EMIT_TO_VECTOR: x64_vectors_form(e, X64_VECTOR_FROM_GENERAL, d, a); break;
	default: x64_vectors_form(e, X64_VECTOR_TO_GENERAL, a, d);
	}
}

static void compute(struct op_writer *w, uint32_t at)
{
	const struct emit_op *op = &w->p->ops[at];
	struct emit *e = w->e;
	unsigned d = reg_of(w, op->d), a = reg_of(w, op->a), b = reg_of(w, op->b);
	int64_t from_stack = (int64_t)((uint64_t)op->imm + w->pushed);

	switch (op->kind) {
	case EMIT_AREA: find_area(w, at, d); break;
	case EMIT_SET: x64_set_register(e, d, (uint64_t)op->imm); break;
	case EMIT_MOVE: move(e, d, a); break;
	case EMIT_STACK: add(e, d, X64_RSP, from_stack, d); break;
	case EMIT_LOAD: x64_memory_form(e, X64_LOAD, d, a, (int32_t)op->imm); break;
	case EMIT_STORE: store(w, op); break;
	case EMIT_ADD:
		add(e, d, a, op->imm, temporaries(e, op) ? ops_temporary(w, at, 0) : d);
		break;
	case EMIT_ADD_SHIFTED: add_shifted(w, at, d, a, b); break;
	case EMIT_SUB_SHIFTED: sub_shifted(w, at, d, a, b); break;
	case EMIT_XOR: exclusive_or(e, d, a, b); break;
	case EMIT_LOW_BITS: low_bits(e, d, a, op->imm & 63, is_only_tested(w->p, at)); break;
	case EMIT_SHIFT_RIGHT:
		move(e, d, a);
		shift(e, X64_SHIFT_RIGHT, d, op->imm & 63);
		break;
	case EMIT_COUNT:
	case EMIT_COUNT_VALUE: count(w, op); break;
	case EMIT_CALL: call(w, w->p->routine, &w->p->argument, d); break;
	case EMIT_VECTOR_BEGIN:
	case EMIT_VECTOR_COUNT:
	case EMIT_VECTOR_READ:
	case EMIT_TO_VECTOR:
	case EMIT_FROM_VECTOR: write_vector_op(e, op, d, a); break;
	default: e->failed = true;
	}
}

static void write_one(struct op_writer *w, uint32_t at)
{
	if (is_comparison(w->p, at))
		compare(w, at);
	else if (!is_only_compared(w->p, at))
		compute(w, at);
}

static void write_all(struct op_writer *w, uint32_t from, uint32_t end)
{
	w->tested = REG_NONE;
	for (uint32_t i = from; i < end; i++) {
		const struct emit_op *op = &w->p->ops[i];
		switch (op->kind) {
		case EMIT_UNLESS_ZERO: branch(w, X64_JNE32, op); break;
		case EMIT_IF_ZERO: branch(w, X64_JE32, op); break;
		case EMIT_UNLESS_NEGATIVE: branch(w, X64_JNS32, op); break;
		case EMIT_IF_NEGATIVE: branch(w, X64_JS32, op); break;
		default:
			write_one(w, i);
			w->tested = sets_flags(op) || is_comparison(w->p, i) ? op->d : REG_NONE;
		}
	}
}

void x64_operations(struct emit *e, const struct emit_probe *p)
{
	struct op_writer w = {.e = e, .p = p, .tested = REG_NONE};
	if (!ops_are_valid(p)) {
		e->failed = true;
		return;
	}
	struct saved_state saved = choose_registers(&w);
	save(&w, &saved);
	ops_put(&w, write_all);
	restore(&w, &saved);
}

void x64_aside(struct emit *e, const struct emit_aside *a)
{
	struct op_writer w = ops_resume(e, a);
	if (a->area != REG_NONE)
		call(&w, a->probe.find, NULL, a->area);
	else
		write_all(&w, a->from, a->end);
	x64_go(e, (struct emit_target){.label = a->back});
}
