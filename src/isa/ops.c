#include "isa/ops.h"

#include <string.h>

enum { D = 1 << 0, A = 1 << 1, B = 1 << 2, BRANCHES = 1 << 3, OFFSET = 1 << 4, BITS = 1 << 5 };

/* What of an operation means something: operands, and whether imm is limited. */
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
	[EMIT_UNLESS_NEGATIVE] = A | BRANCHES,
	[EMIT_IF_NEGATIVE] = A | BRANCHES,
	[EMIT_CALL] = D,
};

static uint8_t value(const struct emit_op *op, uint8_t which, uint8_t operand)
{
	return shapes[op->kind] & which && operand < EMIT_VALUES ? (uint8_t)(1 << operand) : 0;
}

uint8_t op_reads(const struct emit_op *op)
{
	return value(op, A, op->a) | value(op, B, op->b);
}

uint8_t op_writes(const struct emit_op *op)
{
	return value(op, D, op->d);
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

static bool is_valid(const struct emit_op *op)
{
	if (op->kind >= EMIT_OP_KINDS)
		return false;
	uint8_t shape = shapes[op->kind];
	bool zero = op->kind == EMIT_STORE && op->b == EMIT_ZERO;
	if ((shape & D && !is_operand(op->d)) || (shape & A && !is_operand(op->a)) ||
	    (shape & B && !is_operand(op->b) && !zero))
		return false;
	if (op_counts(op) && (op->d == op->a || (shape & B && op->d == op->b)))
		return false;
	if (shape & OFFSET &&
	    (op->imm % 8 || op->imm > EMIT_OFFSET_MAX || op->imm < -EMIT_OFFSET_MAX))
		return false;
	return !(shape & BITS) || (op->imm >= 0 && op->imm < 64);
}

static bool has_two(const struct emit_probe *p)
{
	return p->second_from;
}

/* Where the first aside ends. */
static uint32_t first_end(const struct emit_probe *p)
{
	return has_two(p) ? p->second_from : p->op_count;
}

/* Whether a branch may stand where it does. */
static bool is_placed(const struct emit_probe *p, uint32_t at)
{
	const struct emit_op *op = &p->ops[at];
	if (op->imm != 0 && op->imm != 1)
		return false;
	if (op->imm)
		return has_two(p) && at < p->second_from;
	return p->aside_from < p->op_count && at < (has_two(p) ? p->back : p->aside_from);
}

bool ops_are_valid(const struct emit_probe *p)
{
	if (p->aside_from > p->op_count ||
	    (has_two(p) && (p->second_from <= p->aside_from || p->second_from >= p->op_count ||
			    p->back > p->aside_from)))
		return false;
	uint32_t last = has_two(p) ? p->second_from : p->aside_from;
	for (uint32_t i = 0; i < p->op_count; i++) {
		const struct emit_op *op = &p->ops[i];
		if (!is_valid(op) || (op->kind == EMIT_CALL && i < last) ||
		    (op_branches(op) && !is_placed(p, i)))
			return false;
	}
	return true;
}

static uint8_t needed(const struct emit_probe *p, uint32_t from);

/* By what the first aside leads back to. */
static uint8_t needed_back(const struct emit_probe *p)
{
	return p->back < p->aside_from ? needed(p, p->back) : 0;
}

static uint8_t needed_in_aside(const struct emit_probe *p, const struct emit_op *branch)
{
	return op_branches(branch) ? needed(p, branch->imm ? p->second_from : p->aside_from) : 0;
}

/* Of the values, those that the operations from `from` on need. */
static uint8_t needed(const struct emit_probe *p, uint32_t from)
{
	uint32_t end = from < p->aside_from  ? p->aside_from
		       : from < first_end(p) ? first_end(p)
					     : p->op_count;
	bool goes_back = has_two(p) && end == p->second_from;
	uint8_t set = goes_back && from >= p->aside_from ? needed_back(p) : 0;
	for (uint32_t i = end; i-- > from;) {
		const struct emit_op *op = &p->ops[i];
		set &= (uint8_t)~op_writes(op);
		set |= op_reads(op) | needed_in_aside(p, op);
	}
	return set;
}

static uint8_t needed_after(const struct emit_probe *p, uint32_t at)
{
	uint32_t next = at + 1;
	uint8_t set = needed_in_aside(p, &p->ops[at]);
	if (has_two(p) && next == p->second_from)
		return set | needed_back(p);
	return next == p->aside_from || next == p->op_count ? set : set | needed(p, next);
}

bool ops_need(const struct emit_probe *p, uint32_t at, uint8_t value)
{
	return needed_after(p, at) >> value & 1;
}

/* The values that the operation does not name and that nothing needs from there on. */
static unsigned spare(const struct emit_probe *p, uint32_t at)
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
		unsigned have = need ? (unsigned)__builtin_popcount(spare(p, i) & values) : 0;
		if (need > have + more)
			more = need - have;
	}
	return values | ((1u << more) - 1) << EMIT_VALUES;
}

uint8_t ops_temporary(const struct op_writer *w, uint32_t at, unsigned nth)
{
	unsigned set = spare(w->p, at) | ~0u << EMIT_VALUES;
	for (unsigned i = 0; i < EMIT_REGISTERS; i++)
		if (set >> i & 1 && w->reg[i] != REG_NONE && nth-- == 0)
			return w->reg[i];
	w->e->failed = true; /* cannot be: ops_registers() has seen to it */
	return 0;
}

static struct emit_aside *put_aside(const struct op_writer *w, uint32_t here, uint32_t back)
{
	struct emit_aside a = {.probe = *w->p,
			       .here = here,
			       .back = back,
			       .area = REG_NONE,
			       .second = w->aside[1],
			       .pushed = w->pushed,
			       .flags = w->flags};
	memcpy(a.registers, w->reg, sizeof(a.registers));
	vec_push(&w->e->asides, a);
	return &vec_last(&w->e->asides);
}

void ops_put_find(const struct op_writer *w, uint32_t here, uint32_t back, uint8_t area)
{
	put_aside(w, here, back)->area = area;
}

static void put_operations(const struct op_writer *w, uint32_t here, uint32_t back, uint32_t from,
			   uint32_t end)
{
	struct emit_aside *a = put_aside(w, here, back);
	a->from = (uint16_t)from;
	a->end = (uint16_t)end;
}

void ops_put(struct op_writer *w, ops_write *write)
{
	const struct emit_probe *p = w->p;
	if (p->aside_from == p->op_count) {
		write(w, 0, p->op_count);
		return;
	}
	uint32_t behind = emit_label(w->e), back = behind;
	for (unsigned i = 0; i < EMIT_ASIDES; i++)
		w->aside[i] = emit_label(w->e);
	if (has_two(p)) {
		back = emit_label(w->e);
		write(w, 0, p->back);
		emit_place(w->e, back);
		write(w, p->back, p->aside_from);
	} else {
		write(w, 0, p->aside_from);
	}
	emit_place(w->e, behind);
	put_operations(w, w->aside[0], back, p->aside_from, first_end(p));
	if (has_two(p))
		put_operations(w, w->aside[1], behind, p->second_from, p->op_count);
}

struct op_writer ops_resume(struct emit *e, const struct emit_aside *a)
{
	struct op_writer w = {.e = e,
			      .p = &a->probe,
			      .aside = {LABEL_NONE, a->second},
			      .pushed = a->pushed,
			      .flags = a->flags,
			      .tested = REG_NONE};
	memcpy(w.reg, a->registers, sizeof(w.reg));
	return w;
}

static uint64_t held(const struct emit_op *op, uint8_t which, uint8_t operand)
{
	bool named = shapes[op->kind] & which && operand >= EMIT_HELD && is_operand(operand);
	return named ? UINT64_C(1) << (operand - EMIT_HELD) : 0;
}

struct emit_probe probe_in_full(const struct emit_probe *p, struct emit_op counter[COUNTER_OPS])
{
	struct emit_probe made = *p;
	if (!p->ops && !p->routine) {
		counter[0] = (struct emit_op){.kind = EMIT_AREA, .d = 0};
		counter[1] =
			(struct emit_op){.kind = EMIT_COUNT, .d = 1, .a = 0, .imm = p->counter};
		made.ops = counter;
		made.op_count = made.aside_from = COUNTER_OPS;
	}
	for (uint32_t i = 0; i < made.op_count; i++) {
		const struct emit_op *op = &made.ops[i];
		if (op->kind < EMIT_OP_KINDS)
			made.held.core |=
				held(op, D, op->d) | held(op, A, op->a) | held(op, B, op->b);
	}
	made.free = regset_without(made.free, made.held);
	return made;
}
