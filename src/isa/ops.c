#include "isa/ops.h"

#include <string.h>

/* Shapes of operations. */
enum {
	D = 1 << 0, /* has the operand d */
	A = 1 << 1,
	B = 1 << 2,
	BRANCHES = 1 << 3,
	OFFSET = 1 << 4,   /* imm is an offset in memory */
	BITS = 1 << 5,     /* imm is a number of bits */
	VECTOR_D = 1 << 6, /* the operand d is a vector */
	VECTOR_A = 1 << 7,
};

/* The operands that each operation uses, and the limits on its imm. */
static const uint8_t shapes[EMIT_OP_KINDS] = {
	[EMIT_AREA] = D,
	[EMIT_SET] = D,
	[EMIT_MOVE] = D | A,
	[EMIT_STACK] = D,
	[EMIT_LOAD] = D | A | OFFSET,
	[EMIT_STORE] = A | B | OFFSET,
	[EMIT_ADD] = D | A,
	[EMIT_ADD_SHIFTED] = D | A | B | BITS,
	[EMIT_SUB_SHIFTED] = D | A | B | BITS,
	[EMIT_XOR] = D | A | B,
	[EMIT_LOW_BITS] = D | A | BITS,
	[EMIT_SHIFT_RIGHT] = D | A | BITS,
	[EMIT_COUNT] = D | A | OFFSET,
	[EMIT_COUNT_VALUE] = D | A | B | OFFSET,
	[EMIT_UNLESS_ZERO] = A | BRANCHES,
	[EMIT_IF_ZERO] = A | BRANCHES,
	[EMIT_UNLESS_NEGATIVE] = A | BRANCHES,
	[EMIT_IF_NEGATIVE] = A | BRANCHES,
	[EMIT_CALL] = D,
	[EMIT_VECTOR_BEGIN] = VECTOR_D,
	[EMIT_VECTOR_COUNT] = VECTOR_D,
	[EMIT_VECTOR_READ] = D | VECTOR_A,
	[EMIT_TO_VECTOR] = VECTOR_D | A,
	[EMIT_FROM_VECTOR] = D | VECTOR_A,
};

static uint8_t value_bit(const struct emit_op *op, uint8_t which, uint8_t operand)
{
	return shapes[op->kind] & which && operand < EMIT_VALUES ? (uint8_t)(1 << operand) : 0;
}

uint8_t op_reads(const struct emit_op *op)
{
	return value_bit(op, A, op->a) | value_bit(op, B, op->b);
}

uint8_t op_writes(const struct emit_op *op)
{
	return value_bit(op, D, op->d);
}

uint8_t op_names(const struct emit_op *op)
{
	return op_reads(op) | op_writes(op);
}

bool op_branches(const struct emit_op *op)
{
	return shapes[op->kind] & BRANCHES;
}

bool op_counts(const struct emit_op *op)
{
	return op->kind == EMIT_COUNT || op->kind == EMIT_COUNT_VALUE;
}

static bool is_operand(uint8_t operand)
{
	return operand < EMIT_VALUES || (operand >= EMIT_HELD && operand < EMIT_HELD + REG_FLAGS);
}

static bool is_vector(uint8_t operand)
{
	return operand >= EMIT_VECTOR && operand < EMIT_VECTOR + 32;
}

static bool is_valid(const struct emit_op *op)
{
	if (op->kind >= EMIT_OP_KINDS)
		return false;
	uint8_t shape = shapes[op->kind];
	bool zero = op->kind == EMIT_STORE && op->b == EMIT_ZERO;
	if ((shape & D && !is_operand(op->d)) || (shape & A && !is_operand(op->a)) ||
	    (shape & B && !is_operand(op->b) && !zero) || (shape & VECTOR_D && !is_vector(op->d)) ||
	    (shape & VECTOR_A && !is_vector(op->a)))
		return false;
	if (op_counts(op) && (op->d == op->a || (shape & B && op->d == op->b)))
		return false;
	if (shape & OFFSET &&
	    (op->imm % 8 || op->imm > EMIT_OFFSET_MAX || op->imm < -EMIT_OFFSET_MAX))
		return false;
	return !(shape & BITS) || (op->imm >= 0 && op->imm < 64);
}

static uint32_t main_end(const struct emit_probe *p)
{
	return p->aside_count ? p->asides[0].from : p->op_count;
}

static uint32_t aside_end(const struct emit_probe *p, unsigned aside)
{
	return aside + 1u < p->aside_count ? p->asides[aside + 1].from : p->op_count;
}

/* The aside that contains an operation, or -1. */
static int aside_of(const struct emit_probe *p, uint32_t at)
{
	int aside = -1;
	while (aside + 1 < p->aside_count && at >= p->asides[aside + 1].from)
		aside++;
	return aside;
}

/* Whether a branch keeps to the rule that control only moves forward (struct emit_probe). */
static bool is_forward(const struct emit_probe *p, uint32_t at)
{
	int64_t to = p->ops[at].imm;
	int in = aside_of(p, at);
	return to >= 0 && to < p->aside_count && (in < 0 ? at < p->asides[to].back : in < to);
}

static bool are_asides_valid(const struct emit_probe *p)
{
	uint32_t from = 0, back = 0;
	if (p->aside_count > EMIT_ASIDES)
		return false;
	for (unsigned i = 0; i < p->aside_count; i++) {
		if ((i && p->asides[i].from <= from) || p->asides[i].from >= p->op_count ||
		    p->asides[i].back < back || p->asides[i].back > main_end(p))
			return false;
		from = p->asides[i].from;
		back = p->asides[i].back;
	}
	return true;
}

bool ops_are_valid(const struct emit_probe *p)
{
	if (!are_asides_valid(p))
		return false;
	for (uint32_t i = 0; i < p->op_count; i++) {
		const struct emit_op *op = &p->ops[i];
		bool last = p->aside_count && aside_of(p, i) == p->aside_count - 1;
		if (!is_valid(op) || (op->kind == EMIT_CALL && !last) ||
		    (op_branches(op) && !is_forward(p, i)))
			return false;
	}
	return true;
}

static uint8_t needed(const struct emit_probe *p, uint32_t from, uint32_t end);

static uint8_t needed_in_aside(const struct emit_probe *p, unsigned aside)
{
	return needed(p, p->asides[aside].from, aside_end(p, aside));
}

/* The values needed by the operations from `from` to `end` and by all that may follow them. `end`
 * is the end of the main operations or of an aside. */
static uint8_t needed(const struct emit_probe *p, uint32_t from, uint32_t end)
{
	uint8_t set = 0;
	if (end > main_end(p))
		set = needed(p, p->asides[aside_of(p, end - 1)].back, main_end(p));
	for (uint32_t i = end; i-- > from;) {
		const struct emit_op *op = &p->ops[i];
		set &= (uint8_t)~op_writes(op);
		set |= op_reads(op);
		if (op_branches(op))
			set |= needed_in_aside(p, (unsigned)op->imm);
	}
	return set;
}

static uint8_t needed_after(const struct emit_probe *p, uint32_t at)
{
	const struct emit_op *op = &p->ops[at];
	int in = aside_of(p, at);
	uint8_t set = needed(p, at + 1, in < 0 ? main_end(p) : aside_end(p, (unsigned)in));
	return op_branches(op) ? set | needed_in_aside(p, (unsigned)op->imm) : set;
}

bool ops_are_together(const struct emit_probe *p, uint32_t at)
{
	bool back = false;
	for (unsigned i = 0; i < p->aside_count; i++)
		back |= p->asides[i].back == at + 1;
	return at + 1 < main_end(p) && !back;
}

bool ops_need(const struct emit_probe *p, uint32_t at, uint8_t value)
{
	return needed_after(p, at) >> value & 1;
}

/* The values that the operation does not name and that are not needed after it. */
static unsigned spare_values(const struct emit_probe *p, uint32_t at)
{
	const struct emit_op *op = &p->ops[at];
	return ~(op_names(op) | (unsigned)needed_after(p, at)) & ((1u << EMIT_VALUES) - 1);
}

unsigned ops_registers(const struct op_writer *w, const struct op_needs *needs)
{
	const struct emit_probe *p = w->p;
	unsigned values = 0, more = 0;
	for (uint32_t i = 0; i < p->op_count; i++)
		values |= needs->values ? needs->values(p, i) : op_names(&p->ops[i]);
	for (uint32_t i = 0; i < p->op_count; i++) {
		unsigned need = needs->temporaries(w->e, &p->ops[i]);
		unsigned have =
			need ? (unsigned)__builtin_popcount(spare_values(p, i) & values) : 0;
		if (need > have + more)
			more = need - have;
	}
	return values | ((1u << more) - 1) << EMIT_VALUES;
}

uint8_t ops_temporary(const struct op_writer *w, uint32_t at, unsigned nth)
{
	unsigned set = spare_values(w->p, at) | ~0u << EMIT_VALUES;
	for (unsigned i = 0; i < EMIT_REGISTERS; i++)
		if (set >> i & 1 && w->reg[i] != REG_NONE && nth-- == 0)
			return w->reg[i];
	w->e->failed = true; /* cannot happen: ops_registers() has reserved enough */
	return 0;
}

static struct emit_aside *put_aside(const struct op_writer *w, uint32_t here, uint32_t back)
{
	struct emit_aside a = {.probe = *w->p,
			       .here = here,
			       .back = back,
			       .area = REG_NONE,
			       .pushed = w->pushed,
			       .flags = w->flags};
	memcpy(a.asides, w->asides, sizeof(a.asides));
	memcpy(a.registers, w->reg, sizeof(a.registers));
	vec_push(&w->e->asides, a);
	return &vec_last(&w->e->asides);
}

void ops_put_find(const struct op_writer *w, uint32_t here, uint32_t back, uint8_t area)
{
	put_aside(w, here, back)->area = area;
}

void ops_put(struct op_writer *w, ops_write *write)
{
	const struct emit_probe *p = w->p;
	uint32_t backs[EMIT_ASIDES], at = 0;
	for (unsigned i = 0; i < p->aside_count; i++)
		w->asides[i] = emit_label(w->e);
	for (unsigned i = 0; i < p->aside_count; i++) {
		write(w, at, p->asides[i].back);
		at = p->asides[i].back;
		backs[i] = emit_label(w->e);
		emit_place(w->e, backs[i]);
	}
	write(w, at, main_end(p));
	for (unsigned i = 0; i < p->aside_count; i++) {
		struct emit_aside *a = put_aside(w, w->asides[i], backs[i]);
		a->from = p->asides[i].from;
		a->end = (uint16_t)aside_end(p, i);
	}
}

struct op_writer ops_resume(struct emit *e, const struct emit_aside *a)
{
	struct op_writer w = {
		.e = e, .p = &a->probe, .pushed = a->pushed, .flags = a->flags, .tested = REG_NONE};
	memcpy(w.asides, a->asides, sizeof(w.asides));
	memcpy(w.reg, a->registers, sizeof(w.reg));
	return w;
}

static uint64_t held(const struct emit_op *op, uint8_t which, uint8_t operand)
{
	bool named = shapes[op->kind] & which && operand >= EMIT_HELD && is_operand(operand);
	return named ? UINT64_C(1) << (operand - EMIT_HELD) : 0;
}

static uint32_t held_vector(const struct emit_op *op, uint8_t which, uint8_t operand)
{
	bool named = shapes[op->kind] & which && is_vector(operand);
	return named ? UINT32_C(1) << (operand - EMIT_VECTOR) : 0;
}

struct emit_probe probe_in_full(const struct emit_probe *p, struct emit_op counter[COUNTER_OPS])
{
	struct emit_probe made = *p;
	if (!p->ops && !p->routine) {
		counter[0] = (struct emit_op){.kind = EMIT_AREA, .d = 0};
		counter[1] =
			(struct emit_op){.kind = EMIT_COUNT, .d = 1, .a = 0, .imm = p->counter};
		made.ops = counter;
		made.op_count = COUNTER_OPS;
		made.aside_count = 0;
	}
	for (uint32_t i = 0; i < made.op_count; i++) {
		const struct emit_op *op = &made.ops[i];
		if (op->kind >= EMIT_OP_KINDS)
			continue;
		made.held.core |= held(op, D, op->d) | held(op, A, op->a) | held(op, B, op->b);
		made.held.vec |=
			held_vector(op, VECTOR_D, op->d) | held_vector(op, VECTOR_A, op->a);
	}
	made.free = regset_without(made.free, made.held);
	return made;
}
