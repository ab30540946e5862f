/* Random operations of probe code, for either architecture, with what they do: they are interpreted
 * while they are made, so what is read and written on the way that control takes is known. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/vec.h"
#include "isa/emit.h"

enum { MADE_OPS = 64, MADE_HELD = 2, MADE_VECTORS = 2 };

/* Where operations access memory, from the area on: what instructions reach in one way and another,
 * and neighbours of that. */
static const int64_t made_cells[] = {
	-0xfff000, -0xffeff8, -0x801000, -0x800ff8, -0x8008,  -0x8000,  -0x1008, -0x1000,
	-0xff8,    -528,      -520,      -512,      -504,     -272,     -264,    -256,
	-248,      -136,      -128,      -120,      -16,      -8,       0,       8,
	16,        120,       128,       136,       248,      256,      496,     504,
	512,       520,       0xff8,     0x1000,    0x7ff0,   0x7ff8,   0x8000,  0x8008,
	0xfff8,    0x10000,   0x800ff8,  0x801000,  0xffeff8, 0xfff000,
};

static const int64_t made_constants[] = {
	0,           1,          -1,         2,           8,           -8,
	127,         128,        -128,       -129,        0xfff,       0x1000,
	0x1001,      -0xfff,     -0x1000,    0xffffff,    0x1000000,   -0xffffff,
	-0x1000000,  0x7fffffff, 0x80000000, -0x80000000, -0x80000001, 0xffffffff,
	0x100000000, 0xffff0000, INT64_MIN,  INT64_MAX,   -0x10000,    0x123400000000,
};

enum { MADE_CELLS = ARRAY_SIZE(made_cells) };

/* What operations work on. */
struct made_state {
	uint64_t value[EMIT_VALUES], reg[32];
	unsigned defined; /* bits: values that mean something */
	uint64_t vector[MADE_VECTORS];
	unsigned begun, kept; /* bits: vectors that count, and that have a value */
	uint64_t cell[MADE_CELLS];
	uint32_t areas, calls; /* operations executed */
};

struct made_ops {
	uint64_t (*random)(void);
	uint64_t area, stack, answer;
	unsigned values;         /* that may be used */
	uint8_t held[MADE_HELD]; /* registers that may be, and how many of them */
	unsigned held_count;
	uint8_t vectors[MADE_VECTORS]; /* that may be used */
	uint8_t pinned;                /* operand that has the area's address all the time */
	struct emit_op ops[MADE_OPS];
	uint16_t count, froms[EMIT_ASIDES], backs[EMIT_ASIDES];
	uint8_t asides;
	unsigned leads;        /* bits: asides that branches may lead to */
	struct made_state now; /* before: to be set; after: what the operations make of it */
};

static bool made_pick(struct made_ops *m, unsigned of)
{
	return m->random() % of == 0;
}

/* A number that tests of numbers tell apart: small, zero, negative. */
static uint64_t made_number(struct made_ops *m)
{
	uint64_t r = m->random();
	return r % 3 == 0 ? 0 : r % 3 == 1 ? r : r >> 60;
}

/* The number of one of the bits; 0 if there is none. */
static int made_one_of(struct made_ops *m, unsigned bits)
{
	int bit = 0;
	while (bits && !(bits >> (bit = (int)(m->random() % EMIT_ASIDES)) & 1)) {}
	return bit;
}

static bool made_is_defined(const struct made_ops *m, uint8_t operand)
{
	return operand >= EMIT_HELD || m->now.defined >> operand & 1;
}

static uint64_t made_get(const struct made_ops *m, uint8_t operand)
{
	if (operand == EMIT_ZERO)
		return 0;
	return operand >= EMIT_HELD ? m->now.reg[operand - EMIT_HELD] : m->now.value[operand];
}

static void made_put(struct made_ops *m, uint8_t operand, uint64_t value)
{
	if (operand >= EMIT_HELD) {
		m->now.reg[operand - EMIT_HELD] = value;
		return;
	}
	m->now.value[operand] = value;
	m->now.defined |= 1u << operand;
}

static bool made_has_vector(uint8_t kind)
{
	return kind >= EMIT_VECTOR_BEGIN && kind <= EMIT_FROM_VECTOR;
}

static bool made_reads_vector(uint8_t kind)
{
	return kind == EMIT_VECTOR_READ || kind == EMIT_FROM_VECTOR;
}

/* Which of the vectors an operation is about. */
static unsigned made_vector(const struct made_ops *m, const struct emit_op *op)
{
	uint8_t operand = made_reads_vector(op->kind) ? op->a : op->d;
	return operand == EMIT_VECTOR + m->vectors[0] ? 0 : 1;
}

static void made_execute_vector(struct made_ops *m, const struct emit_op *op)
{
	unsigned i = made_vector(m, op), bit = 1u << i;
	uint64_t *vector = &m->now.vector[i];
	switch (op->kind) {
	case EMIT_VECTOR_BEGIN:
		*vector = 0;
		m->now.begun |= bit;
		m->now.kept &= ~bit;
		break;
	case EMIT_VECTOR_COUNT: ++*vector; break;
	case EMIT_TO_VECTOR:
		*vector = made_get(m, op->a);
		m->now.kept |= bit;
		m->now.begun &= ~bit;
		break;
	default: made_put(m, op->d, *vector);
	}
}

static uint64_t *made_cell(struct made_ops *m, uint64_t address)
{
	for (unsigned i = 0; i < MADE_CELLS; i++)
		if (m->area + (uint64_t)made_cells[i] == address)
			return &m->now.cell[i];
	return NULL;
}

/* Executes it; false if control goes on to the aside. */
static bool made_execute(struct made_ops *m, const struct emit_op *op)
{
	if (made_has_vector(op->kind)) {
		made_execute_vector(m, op);
		return true;
	}
	uint64_t a = made_get(m, op->a), b = made_get(m, op->b), imm = (uint64_t)op->imm;
	uint64_t *cell = made_cell(m, a + imm);
	switch (op->kind) {
	case EMIT_AREA:
		m->now.areas++;
		made_put(m, op->d, m->area);
		break;
	case EMIT_SET: made_put(m, op->d, imm); break;
	case EMIT_MOVE: made_put(m, op->d, a); break;
	case EMIT_STACK: made_put(m, op->d, m->stack + imm); break;
	case EMIT_LOAD: made_put(m, op->d, *cell); break;
	case EMIT_STORE: *cell = b; break;
	case EMIT_ADD: made_put(m, op->d, a + imm); break;
	case EMIT_ADD_SHIFTED: made_put(m, op->d, a + (b << imm)); break;
	case EMIT_SUB_SHIFTED: made_put(m, op->d, a - (b << imm)); break;
	case EMIT_XOR: made_put(m, op->d, a ^ b); break;
	case EMIT_LOW_BITS: made_put(m, op->d, a & ((UINT64_C(1) << imm) - 1)); break;
	case EMIT_SHIFT_RIGHT: made_put(m, op->d, a >> imm); break;
	case EMIT_COUNT:
	case EMIT_COUNT_VALUE:
		*cell += op->kind == EMIT_COUNT ? 1 : b;
		m->now.defined &= ~(1u << op->d);
		break;
	case EMIT_UNLESS_ZERO: return a == 0;
	case EMIT_IF_ZERO: return a != 0;
	case EMIT_UNLESS_NEGATIVE: return (int64_t)a < 0;
	case EMIT_IF_NEGATIVE: return (int64_t)a >= 0;
	case EMIT_CALL:
		m->now.calls++;
		made_put(m, op->d, m->answer);
		break;
	}
	return true;
}

static uint8_t made_operand(struct made_ops *m)
{
	uint64_t n = m->random() % (m->values + m->held_count);
	return n < m->values ? (uint8_t)n : (uint8_t)(EMIT_HELD + m->held[n - m->values]);
}

/* An offset that leads from the base to a cell, preferably next to the one of the operation before.
 */
static bool made_offset(struct made_ops *m, struct emit_op *op)
{
	const struct emit_op *last = m->count ? &m->ops[m->count - 1] : NULL;
	if (last && last->kind == op->kind && last->a == op->a && !made_pick(m, 4))
		op->imm = last->imm + (made_pick(m, 2) ? 8 : -8);
	else
		op->imm = (int64_t)(m->area - made_get(m, op->a) +
				    (uint64_t)made_cells[m->random() % MADE_CELLS]);
	return op->imm >= -EMIT_OFFSET_MAX && op->imm <= EMIT_OFFSET_MAX && op->imm % 8 == 0 &&
	       made_cell(m, made_get(m, op->a) + (uint64_t)op->imm);
}

static int64_t made_constant(struct made_ops *m)
{
	switch (m->random() % 8) {
	case 0: return (int64_t)m->random();
	case 1: return (int64_t)m->area;
	default: return made_constants[m->random() % ARRAY_SIZE(made_constants)];
	}
}

static bool made_is_bits(uint8_t kind)
{
	return kind == EMIT_ADD_SHIFTED || kind == EMIT_SUB_SHIFTED || kind == EMIT_LOW_BITS ||
	       kind == EMIT_SHIFT_RIGHT;
}

static bool made_is_access(uint8_t kind)
{
	return kind == EMIT_LOAD || kind == EMIT_STORE || kind == EMIT_COUNT ||
	       kind == EMIT_COUNT_VALUE;
}

static bool made_is_branch(uint8_t kind)
{
	return kind >= EMIT_UNLESS_ZERO && kind <= EMIT_IF_NEGATIVE;
}

static bool made_reads_b(uint8_t kind)
{
	return kind == EMIT_STORE || kind == EMIT_ADD_SHIFTED || kind == EMIT_SUB_SHIFTED ||
	       kind == EMIT_XOR || kind == EMIT_COUNT_VALUE;
}

static bool made_reads_a(uint8_t kind)
{
	return kind != EMIT_AREA && kind != EMIT_SET && kind != EMIT_STACK && kind != EMIT_CALL;
}

static bool made_writes_d(uint8_t kind)
{
	return kind != EMIT_STORE && !made_is_branch(kind);
}

/* Counts only where it has begun, and has a value only where it was given one. */
static bool made_try_vector(struct made_ops *m, struct emit_op *op)
{
	unsigned i = m->random() % MADE_VECTORS;
	uint8_t vector = (uint8_t)(EMIT_VECTOR + m->vectors[i]);
	*(made_reads_vector(op->kind) ? &op->a : &op->d) = vector;
	switch (op->kind) {
	case EMIT_VECTOR_BEGIN: return true;
	case EMIT_VECTOR_COUNT: return m->now.begun >> i & 1;
	case EMIT_VECTOR_READ: return m->now.begun >> i & 1 && op->d != m->pinned;
	case EMIT_TO_VECTOR: return made_is_defined(m, op->a);
	default: return m->now.kept >> i & 1 && op->d != m->pinned;
	}
}

/* A random operation that can be executed now; false if this attempt is none. */
static bool made_try(struct made_ops *m, bool aside, struct emit_op *op)
{
	static const uint8_t shifts[] = {0, 1, 2, 3, 4, 8, 12, 16, 31, 32, 33, 47, 48, 62, 63};
	*op = (struct emit_op){.kind = (uint8_t)(m->random() % EMIT_OP_KINDS),
			       .d = made_operand(m),
			       .a = made_operand(m),
			       .b = made_operand(m)};
	bool counts = op->kind == EMIT_COUNT || op->kind == EMIT_COUNT_VALUE;
	if (made_has_vector(op->kind))
		return made_try_vector(m, op);
	if ((made_writes_d(op->kind) && op->d == m->pinned) || (op->kind == EMIT_CALL && !aside) ||
	    (made_reads_a(op->kind) && !made_is_defined(m, op->a)) ||
	    (made_reads_b(op->kind) && !made_is_defined(m, op->b)) ||
	    (counts && (op->d == op->a || op->d == op->b || op->d >= EMIT_HELD)))
		return false;
	if (op->kind == EMIT_STORE && made_pick(m, 4))
		op->b = EMIT_ZERO;
	if (made_is_branch(op->kind))
		op->imm = made_one_of(m, m->leads);
	else if (made_is_bits(op->kind))
		op->imm = shifts[m->random() % ARRAY_SIZE(shifts)];
	else if (!made_is_access(op->kind))
		op->imm = made_constant(m);
	else
		return made_offset(m, op);
	return true;
}

/* With branches to the asides `leads`, none of which control follows. */
static void made_some(struct made_ops *m, unsigned n, unsigned leads, bool calls)
{
	m->leads = leads;
	for (unsigned made = 0; made < n;) {
		struct emit_op op;
		if (!made_try(m, calls, &op) || (made_is_branch(op.kind) && !leads) ||
		    !made_execute(m, &op))
			continue;
		m->ops[m->count++] = op;
		made++;
	}
}

/* Goes on to an aside. */
static void made_leave(struct made_ops *m, int aside)
{
	struct emit_op op;
	do {
		uint8_t kind = (uint8_t)(EMIT_UNLESS_ZERO + m->random() % 4);
		op = (struct emit_op){.kind = kind, .a = made_operand(m), .imm = aside};
	} while (!made_is_defined(m, op.a) || made_execute(m, &op));
	m->ops[m->count++] = op;
}

/* Main operations, in parts that asides lead back to the ends of, and the asides. */
enum { MADE_PARTS = 2 * EMIT_ASIDES + 1 };

struct made_part {
	struct emit_op ops[MADE_OPS];
	uint16_t count;
	bool made;
};

/* The asides that a part may lead to; of parts, asides are the last. */
static unsigned made_ways(const struct made_ops *m, unsigned part)
{
	unsigned first = part <= m->asides ? part : part - m->asides;
	return ~0u << first & ((1u << m->asides) - 1);
}

/* Returns the part that control goes on with, or MADE_PARTS. */
static unsigned made_one(struct made_ops *m, struct made_part *part, unsigned number)
{
	bool aside = number > m->asides, last = number == 2u * m->asides;
	unsigned ways = made_ways(m, number), next = aside ? number - m->asides : number + 1;
	m->count = 0;
	if (!number && m->pinned < EMIT_HELD) {
		m->ops[m->count++] =
			(struct emit_op){.kind = made_pick(m, 2) ? EMIT_AREA : EMIT_SET,
					 .d = m->pinned,
					 .imm = (int64_t)m->area};
		made_execute(m, m->ops);
	}
	made_some(m, (unsigned)(m->random() % 6) + aside, ways, aside && last);
	if (ways && made_pick(m, 2)) {
		int to = made_one_of(m, ways);
		made_leave(m, to);
		next = m->asides + 1u + (unsigned)to;
	} else if (number == m->asides) {
		next = MADE_PARTS;
	}
	part->count = m->count;
	part->made = true;
	memcpy(part->ops, m->ops, m->count * sizeof(*m->ops));
	return next;
}

/* In the order in which control goes, and then put in theirs. What control does not get to is made
 * as if it did. */
static void made_ops(struct made_ops *m)
{
	struct made_part parts[MADE_PARTS] = {0};
	m->asides = (uint8_t)(m->random() % (EMIT_ASIDES + 1));
	for (unsigned at = 0; at < MADE_PARTS;)
		at = made_one(m, &parts[at], at);
	struct made_state done = m->now;
	for (unsigned i = 0; i <= 2u * m->asides; i++)
		if (!parts[i].made)
			made_one(m, &parts[i], i);
	m->now = done;
	m->count = 0;
	for (unsigned i = 0; i <= 2u * m->asides; i++) {
		if (i > m->asides)
			m->froms[i - m->asides - 1] = m->count;
		memcpy(m->ops + m->count, parts[i].ops, parts[i].count * sizeof(*m->ops));
		m->count = (uint16_t)(m->count + parts[i].count);
		if (i < m->asides)
			m->backs[i] = m->count;
	}
}

static void made_asides(const struct made_ops *m, struct emit_probe *p)
{
	p->aside_count = m->asides;
	for (unsigned i = 0; i < m->asides; i++) {
		p->asides[i].from = m->froms[i];
		p->asides[i].back = m->backs[i];
	}
}

/* The vectors that operations name. */
static uint32_t made_named_vectors(const struct made_ops *m)
{
	uint32_t set = 0;
	for (unsigned i = 0; i < m->count; i++)
		if (made_has_vector(m->ops[i].kind))
			set |= UINT32_C(1) << m->vectors[made_vector(m, &m->ops[i])];
	return set;
}

/* Random numbers of values and registers, these out of `allowed`; nothing is executed yet. */
static void made_begin(struct made_ops *m, uint64_t (*random)(void), uint64_t allowed)
{
	memset(m, 0, sizeof(*m));
	m->random = random;
	m->values = 1 + (unsigned)(random() % EMIT_VALUES);
	m->held_count = (unsigned)(random() % (MADE_HELD + 1));
	for (unsigned i = 0; i < m->held_count; i++) {
		do
			m->held[i] = (uint8_t)(random() % 32);
		while (!(allowed >> m->held[i] & 1));
		allowed &= ~(UINT64_C(1) << m->held[i]);
	}
	m->vectors[0] = (uint8_t)(random() % 16);
	m->vectors[1] = m->vectors[0] ^ (uint8_t)(1 + random() % 15);
	m->pinned = made_operand(m);
	m->answer = random();
	for (unsigned i = 0; i < MADE_CELLS; i++)
		m->now.cell[i] = random();
}
