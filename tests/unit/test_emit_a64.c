/* What probes consist of in A64 code: counters, operations, calls of routines.
 *
 * On any host the text of what is written is compared. On aarch64 it is also executed: a probe must
 * do what it is for, and change nothing but what is free. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/mman.h>

#include "a64_bench.h"
#include "isa/arch.h"
#include "made_ops.h"

static const struct emit_probe counter = {
	.counter = 4096 + 8, .table = PLACE + 0x10000, .table_bits = 12, .find = PLACE + 0x20000};

static void expect_probe(const struct emit_probe *p, const char *expected)
{
	struct emit e;
	emit_init(&e, &arch_a64, PLACE);
	a64_emit.probe(&e, p);
	expect_text(&e, expected);
}

static void test_counter_text(void **state)
{
	struct emit_probe p = counter;
	(void)state;
	p.free.core = 0xe;
	expect_probe(&p, "mrs x2, tpidr_el0\nadr x3, #0x40010000\nubfx x1, x2, #0xc, #0xc\n"
			 "add x3, x3, x1, lsl #4\nldp x3, x1, [x3]\neon x3, x3, x2\n"
			 "cbnz x3, #0x40000028\n"
			 "ldr x2, [x1, #0x1008]\nadd x2, x2, #1\nstr x2, [x1, #0x1008]\n"
			 "stp x16, x17, [sp, #-0x20]!\nadd x17, sp, #0x20\n"
			 "stp x30, x17, [sp, #0x10]\nbl #0x40020000\n"
			 "mov x1, x16\nldr x30, [sp, #0x10]\nldp x16, x17, [sp], #0x20\n"
			 "b #0x4000001c\n");
}

static void test_counter_without_registers(void **state)
{
	struct emit_probe p = counter;
	(void)state;
	p.counter = 0x801008;
	p.table = UINT64_C(0x123450000000);
	p.free.core = 0xe0040000; /* x18, x29, x30, sp are not for us */
	expect_probe(&p, "stp x9, x10, [sp, #-0x20]!\nstr x11, [sp, #0x10]\n"
			 "mrs x10, tpidr_el0\nmov x11, #0x50000000\nmovk x11, #0x1234, lsl #32\n"
			 "ubfx x9, x10, #0xc, #0xc\n"
			 "add x11, x11, x9, lsl #4\nldp x11, x9, [x11]\neon x11, x11, x10\n"
			 "cbnz x11, #0x40000040\n"
			 "add x11, x9, #0x801, lsl #12\n"
			 "ldr x10, [x11, #8]\nadd x10, x10, #1\nstr x10, [x11, #8]\n"
			 "ldr x11, [sp, #0x10]\nldp x9, x10, [sp], #0x20\n"
			 "stp x16, x17, [sp, #-0x20]!\nadd x17, sp, #0x40\n"
			 "stp x30, x17, [sp, #0x10]\nbl #0x40020000\n"
			 "mov x9, x16\nldr x30, [sp, #0x10]\nldp x16, x17, [sp], #0x20\n"
			 "b #0x40000028\n");
}

enum { R = EMIT_HELD + 16 };

static void put_aside(struct emit_probe *p, uint16_t from)
{
	p->aside_count = 1;
	p->asides[0].from = p->asides[0].back = from;
}

static void expect_operations(const struct emit_op *ops, uint16_t count, uint16_t aside_from,
			      uint64_t unused, const char *expected)
{
	struct emit_probe p = counter;
	p.ops = ops;
	p.op_count = count;
	if (aside_from < count)
		put_aside(&p, aside_from);
	p.free.core = unused;
	p.routine = PLACE + 0x30000;
	p.argument = 5;
	expect_probe(&p, expected);
}

static void test_operations_text(void **state)
{
	static const struct emit_op count[] = {{EMIT_COUNT, .d = 0, .a = R, .imm = 24}};
	static const struct emit_op pairs[] = {{EMIT_LOAD, .d = 0, .a = R, .imm = -504},
					       {EMIT_LOAD, .d = 1, .a = R, .imm = -512},
					       {EMIT_LOAD, .d = 2, .a = 1, .imm = 0},
					       {EMIT_LOAD, .d = 1, .a = 1, .imm = 8},
					       {EMIT_STORE, .a = 1, .b = 2, .imm = 504},
					       {EMIT_STORE, .a = 1, .b = EMIT_ZERO, .imm = 512}};
	/* The base is lost; not neighbours; not the same base; not the same kind; too far. */
	static const struct emit_op others[] = {
		{EMIT_LOAD, .d = 1, .a = 1, .imm = 0},    {EMIT_LOAD, .d = 0, .a = 1, .imm = 8},
		{EMIT_LOAD, .d = 1, .a = R, .imm = -8},   {EMIT_LOAD, .d = 0, .a = R, .imm = 8},
		{EMIT_LOAD, .d = 2, .a = 0, .imm = 16},   {EMIT_STORE, .a = 0, .b = 1, .imm = 24},
		{EMIT_STORE, .a = R, .b = 1, .imm = 512}, {EMIT_STORE, .a = R, .b = 2, .imm = 520}};
	/* v0 = top frame; is its key (v1) as expected? R = its context. Otherwise the runtime's. */
	static const struct emit_op back[] = {{EMIT_AREA, .d = 0},
					      {EMIT_LOAD, .d = 0, .a = 0, .imm = 16},
					      {EMIT_STACK, .d = 1, .imm = 16},
					      {EMIT_LOAD, .d = R, .a = 0, .imm = 0},
					      {EMIT_LOAD, .d = 2, .a = 0, .imm = 8},
					      {EMIT_XOR, .d = 1, .a = 1, .b = 2},
					      {EMIT_UNLESS_ZERO, .a = 1},
					      {EMIT_CALL, .d = R}};
	(void)state;
	expect_operations(count, 1, 1, 2,
			  "ldr x1, [x16, #0x18]\nadd x1, x1, #1\nstr x1, [x16, #0x18]\n");
	expect_operations(count, 1, 1, 1 << 16,
			  "str x9, [sp, #-0x10]!\nldr x9, [x16, #0x18]\nadd x9, x9, #1\n"
			  "str x9, [x16, #0x18]\nldr x9, [sp], #0x10\n");
	expect_operations(
		pairs, ARRAY_SIZE(pairs), ARRAY_SIZE(pairs), 7,
		"ldp x1, x0, [x16, #-0x200]\nldp x2, x1, [x1]\nstp x2, xzr, [x1, #0x1f8]\n");
	expect_operations(others, ARRAY_SIZE(others), ARRAY_SIZE(others), 7,
			  "ldr x1, [x1]\nldr x0, [x1, #8]\nldur x1, [x16, #-8]\nldr x0, [x16, #8]\n"
			  "ldr x2, [x0, #0x10]\nstr x1, [x0, #0x18]\nstr x1, [x16, #0x200]\n"
			  "str x2, [x16, #0x208]\n");
	expect_operations(back, 8, 7, 7,
			  "mrs x1, tpidr_el0\nadr x2, #0x40010000\nubfx x0, x1, #0xc, #0xc\n"
			  "add x2, x2, x0, lsl #4\nldp x2, x0, [x2]\neon x2, x2, x1\n"
			  "cbnz x2, #0x40000030\nldr x0, [x0, #0x10]\nadd x1, sp, #0x10\n"
			  "ldp x16, x2, [x0]\neor x1, x1, x2\ncbnz x1, #0x40000050\n"
			  /* find */
			  "stp x16, x17, [sp, #-0x20]!\nadd x17, sp, #0x20\n"
			  "stp x30, x17, [sp, #0x10]\nbl #0x40020000\nmov x0, x16\n"
			  "ldr x30, [sp, #0x10]\nldp x16, x17, [sp], #0x20\nb #0x4000001c\n"
			  /* aside */
			  "stp x16, x17, [sp, #-0x20]!\nadd x17, sp, #0x20\n"
			  "stp x30, x17, [sp, #0x10]\nmov x16, #5\nbl #0x40030000\n"
			  "ldr x30, [sp, #0x10]\nldr x17, [sp, #8]\nadd sp, sp, #0x20\n"
			  "b #0x40000030\n");
}

static void test_vector_text(void **state)
{
	static const struct emit_op ops[] = {{EMIT_VECTOR_BEGIN, .d = EMIT_VECTOR + 31},
					     {EMIT_VECTOR_COUNT, .d = EMIT_VECTOR + 31},
					     {EMIT_VECTOR_READ, .d = 0, .a = EMIT_VECTOR + 30},
					     {EMIT_COUNT_VALUE, .d = 1, .a = R, .b = 0, .imm = 24},
					     {EMIT_TO_VECTOR, .d = EMIT_VECTOR + 24, .a = R},
					     {EMIT_FROM_VECTOR, .d = R, .a = EMIT_VECTOR + 25}};
	(void)state;
	expect_operations(ops, 6, 6, 6,
			  "movi d31, #0xffffffff00000000\nssubw v31.2d, v31.2d, v31.2s\n"
			  "mov x1, v30.d[1]\nldr x2, [x16, #0x18]\nadd x2, x2, x1\n"
			  "str x2, [x16, #0x18]\nfmov d24, x16\nfmov x16, d25\n");
}

/* By a bit where that reaches, otherwise by a register more. */
static void test_sign_text(void **state)
{
	static const struct emit_op ops[] = {{EMIT_IF_NEGATIVE, .a = R},
					     {EMIT_UNLESS_NEGATIVE, .a = R},
					     {EMIT_MOVE, .d = R, .a = R}};
	static const struct {
		uint32_t extent;
		const char *expected;
	} rows[] = {
		{(1 << 15) - 4, "tbnz x16, #0x3f, #0x40000008\ntbz x16, #0x3f, #0x40000008\n"
				"b #0x40000008\n"},
		{1 << 15, "lsr x1, x16, #0x3f\ncbnz x1, #0x40000010\nlsr x1, x16, #0x3f\n"
			  "cbz x1, #0x40000010\nb #0x40000010\n"},
		{1 << 20, "lsr x1, x16, #0x3f\ncbz x1, #0x4000000c\nb #0x40000018\n"
			  "lsr x1, x16, #0x3f\ncbnz x1, #0x40000018\nb #0x40000018\n"
			  "b #0x40000018\n"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct emit_probe p = {.ops = ops, .op_count = 3, .free.core = 2};
		put_aside(&p, 2);
		struct emit e;
		emit_init(&e, &arch_a64, PLACE);
		e.extent = rows[i].extent;
		a64_emit.probe(&e, &p);
		expect_text(&e, rows[i].expected);
	}
}

/* Interrupted behind its load, a count begins there again; nothing else does. */
static void expect_restart(const struct emit_op *op, uint64_t unused)
{
	struct emit_probe p = counter;
	uint32_t load = UINT32_MAX;
	struct emit e;
	p.ops = op;
	p.op_count = 1;
	p.free.core = unused;
	emit_init(&e, &arch_a64, PLACE);
	a64_emit.probe(&e, &p);
	assert_true(emit_finish(&e));
	for (uint32_t at = 0; at < e.bytes.len; at += 4) {
		struct insn in;
		assert_int_equal(arch_a64.decode(e.bytes.data + at, 4, PLACE, DECODE_FULL, &in), 4);
		if (in.op == OP_LOAD && load == UINT32_MAX)
			load = at;
		bool within = at > load && at <= load + 8;
		assert_int_equal(a64_emit.restart(e.bytes.data, e.bytes.len, at),
				 within ? load : at);
	}
	assert_true(load + 12 <= e.bytes.len);
	emit_release(&e);
}

static void test_restart(void **state)
{
	static const int64_t offsets[] = {
		-EMIT_OFFSET_MAX, -4096, -264, -256, -8, 0, 8, 32760, 32768, EMIT_OFFSET_MAX};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++)
		for (unsigned b = 0; b < 2; b++) {
			uint8_t kind = b ? EMIT_COUNT_VALUE : EMIT_COUNT;
			struct emit_op op = {kind, .d = 0, .a = R, .b = 1, .imm = offsets[i]};
			expect_restart(&op, 0);
			expect_restart(&op, 0x1c);
		}
}

static void test_bad_operations(void **state)
{
	static const struct {
		struct emit_op op;
		bool aside;
	} bad[] = {
		{{.kind = EMIT_OP_KINDS}, false},
		{{EMIT_SET, .d = EMIT_VALUES}, false},
		{{EMIT_SET, .d = EMIT_ZERO}, false},
		{{EMIT_MOVE, .d = 0, .a = EMIT_HELD + 32}, false},
		{{EMIT_XOR, .d = 0, .a = 0, .b = EMIT_ZERO}, false},
		{{EMIT_LOAD, .d = 0, .a = 0, .imm = 4}, false},
		{{EMIT_STORE, .a = 0, .b = 0, .imm = EMIT_OFFSET_MAX + 8}, false},
		{{EMIT_LOAD, .d = 0, .a = 0, .imm = -EMIT_OFFSET_MAX - 8}, false},
		{{EMIT_COUNT, .d = 0, .a = 0}, false},
		{{EMIT_COUNT_VALUE, .d = 0, .a = 1, .b = 0}, false},
		{{EMIT_SHIFT_RIGHT, .d = 0, .a = 0, .imm = 64}, false},
		{{EMIT_LOW_BITS, .d = 0, .a = 0, .imm = -1}, false},
		{{EMIT_UNLESS_ZERO, .a = 0}, false}, /* there is no aside */
		{{EMIT_UNLESS_ZERO, .a = 0}, true},
		{{EMIT_CALL, .d = 0}, false},
		{{EMIT_VECTOR_COUNT, .d = 0}, false},
		{{EMIT_VECTOR_BEGIN, .d = R}, false},
		{{EMIT_VECTOR_READ, .d = 0, .a = EMIT_VECTOR + 32}, false},
		{{EMIT_VECTOR_READ, .d = EMIT_VECTOR, .a = EMIT_VECTOR}, false},
		{{EMIT_MOVE, .d = 0, .a = EMIT_VECTOR}, false},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct emit_probe p = {
			.ops = &bad[i].op, .op_count = 1, .aside_count = bad[i].aside};
		struct emit e;
		emit_init(&e, &arch_a64, PLACE);
		a64_emit.probe(&e, &p);
		assert_false(emit_finish(&e));
		emit_release(&e);
	}
}

static void test_routine_text(void **state)
{
	struct emit_probe p = {.routine = UINT64_C(0x7fff00001000), .argument = PLACE + 64};
	(void)state;
	expect_probe(&p, "stp x16, x17, [sp, #-0x20]!\nstr x30, [sp, #0x10]\n"
			 "adr x16, #0x40000040\nmov x17, #0x1000\n"
			 "movk x17, #0x7fff, lsl #32\nblr x17\nldr x30, [sp, #0x10]\n"
			 "ldp x16, x17, [sp], #0x20\n");
	p.poison = true;
	p.free = (struct regset){.core = UINT64_C(1) << 16 | UINT64_C(1) << REG_FLAGS, .vec = 4};
	expect_probe(&p, "stp x16, x17, [sp, #-0x20]!\nstr x30, [sp, #0x10]\n"
			 "adr x16, #0x40000040\nmov x17, #0x1000\n"
			 "movk x17, #0x7fff, lsl #32\nblr x17\nldr x30, [sp, #0x10]\n"
			 "ldr x17, [sp, #8]\nadd sp, sp, #0x20\n"
			 "orr x16, xzr, #0xaaaaaaaaaaaaaaaa\nmovi v2.16b, #0xaa\n"
			 "cmp xzr, xzr\nccmp xzr, xzr, #0xb, ne\n");
}

static void test_bad_counters(void **state)
{
	static const uint32_t bad[] = {4, 1 << 24};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct emit_probe p = counter;
		struct emit e;
		p.counter = bad[i];
		emit_init(&e, &arch_a64, PLACE);
		a64_emit.probe(&e, &p);
		assert_false(emit_finish(&e));
		emit_release(&e);
	}
}

enum { TABLE_BITS = 12, AREA_SIZE = 9 << 20 };

/* What a counter works on. The table is within reach of adrp, or not. */
struct counting {
	uint64_t *near_table, *far_table, *area;
};

static uint64_t *map(uint64_t hint, size_t size)
{
	void *p = mmap((void *)(uintptr_t)hint, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(p != MAP_FAILED);
	return p;
}

static struct counting make_counting(void)
{
	return (struct counting){
		.near_table = map(executable - (64 << 20), 16 << TABLE_BITS),
		.far_table = map(UINT64_C(0x1234560000), 16 << TABLE_BITS),
		.area = map(0, AREA_SIZE),
	};
}

static void drop_counting(struct counting *c)
{
	munmap(c->near_table, 16 << TABLE_BITS);
	munmap(c->far_table, 16 << TABLE_BITS);
	munmap(c->area, AREA_SIZE);
}

static uint64_t address(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static void set_thread(uint64_t *table, uint64_t thread, const uint64_t *area)
{
	uint64_t own = own_thread();
	uint64_t *pair = table + 2 * (own >> 12 & ((1 << TABLE_BITS) - 1));
	pair[0] = ~thread;
	pair[1] = address(area);
}

/* `count` random registers, and maybe the flags and some vectors. */
static struct regset random_free(unsigned count, uint64_t *seed)
{
	struct regset s = {.core = random_u64(seed) & UINT64_C(1) << REG_FLAGS,
			   .vec = (uint32_t)(random_u64(seed) & random_u64(seed))};
	while (count) {
		uint64_t bit = UINT64_C(1) << random_u64(seed) % 31;
		count -= !(s.core & bit);
		s.core |= bit;
	}
	return s;
}

static void run_probe(const struct emit_probe *p, uint64_t pool, uint32_t extent, struct machine *m)
{
	struct emit e;
	emit_init(&e, &arch_a64, pool);
	e.extent = extent;
	a64_emit.probe(&e, p);
	a64_emit.go(&e, at_pc(executable + WINDOW));
	assert_true(finish(&e) <= emit_probe_bound(p) + 4);
	put_exit(executable + WINDOW, 5);
	run(m, pool);
	assert_int_equal(m->exit, 5);
}

static void check_kept(const struct emit_probe *p, const struct machine *before,
		       const struct machine *after)
{
	const uint64_t garbage = UINT64_C(0xaaaaaaaaaaaaaaaa);
	for (unsigned i = 0; i < 31; i++) {
		if (!regset_has(&p->free, i))
			assert_int_equal(after->x[i], before->x[i]);
		else if (p->poison)
			assert_int_equal(after->x[i], garbage);
	}
	for (unsigned i = 0; i < 32; i++) {
		bool poisoned = p->poison && p->free.vec >> i & 1;
		assert_int_equal(after->v[i][0], poisoned ? garbage : before->v[i][0]);
		assert_int_equal(after->v[i][1], poisoned ? garbage : before->v[i][1]);
	}
	if (!p->poison || !regset_has(&p->free, REG_FLAGS))
		assert_int_equal(after->nzcv, before->nzcv);
}

/* What the next hit finds in the table: its thread, or another. */
enum found { FOUND, FOUND_BY_CALL, FOUND_KINDS };

static void try_counter(struct counting *c, enum found found, struct emit_probe *p, uint64_t *seed)
{
	uint64_t own = own_thread(), random = random_u64(seed);
	uint64_t *table = random & 2 ? c->near_table : c->far_table;
	uint64_t pool = executable + WINDOW + 4096 + (random % POOL_FAR & ~UINT64_C(3));
	struct machine before, after;

	p->table = address(table);
	p->table_bits = TABLE_BITS;
	p->find = address(machine_routine);
	set_thread(table, found == FOUND ? own : own + 16, found == FOUND ? c->area : NULL);
	call_record = (struct call_record){.answer = address(c->area)};
	randomise(&before, seed);
	after = before;
	run_probe(p, pool, random_extent(seed), &after);
	check_kept(p, &before, &after);
	assert_int_equal(call_record.calls, found == FOUND ? 0 : 1);
	assert_int_equal(c->area[p->counter / 8], 1);
	c->area[p->counter / 8] = 0;
}

static void test_counter(void **state)
{
	static const uint32_t offsets[] = {
		0, 4096, 4104, 32760, 32768, 8 << 20, (8 << 20) + 4088, 8654840};
	uint64_t seed = 9;
	(void)state;
	struct counting c = make_counting();
	for (unsigned i = 0; i < 3000; i++) {
		struct emit_probe p = {.free = random_free(i % 32, &seed),
				       .poison = i / 32 % 2,
				       .counter = offsets[random_u64(&seed) % ARRAY_SIZE(offsets)]};
		try_counter(&c, i % FOUND_KINDS, &p, &seed);
	}
	for (size_t i = 0; i < AREA_SIZE / 8; i++)
		assert_int_equal(c.area[i], 0);
	drop_counting(&c);
}

/* What operations work on: the area in the middle of some memory, and routines. */
struct operating {
	uint64_t *table, *memory;
	uint64_t area;
	uint64_t find;
};

enum { HALF = EMIT_OFFSET_MAX + 4096 };

static struct operating make_operating(void)
{
	struct operating o = {.table = map(0, 16 << TABLE_BITS), .memory = map(0, 2 * HALF)};
	o.area = address(o.memory) + HALF;
	o.find = executable + 128;
	put(o.find, &(uint32_t[]){0x58000070, 0xd2800031, 0xd65f03c0, 0}, 16);
	put(o.find + 12, &o.area, 8); /* ldr x16, .+12; mov x17, #1; ret */
	return o;
}

static uint64_t *cell_at(const struct operating *o, unsigned i)
{
	return o->memory + (HALF + made_cells[i]) / 8;
}

static uint64_t next_random(void)
{
	static uint64_t seed = 17;
	return random_u64(&seed);
}

static void check_operations(const struct operating *o, const struct made_ops *m,
			     const struct emit_probe *p, const struct machine *before,
			     const struct machine *after)
{
	struct machine expected = *before;
	struct emit_probe rest = *p;
	for (unsigned i = 0; i < m->held_count; i++) {
		expected.x[m->held[i]] = m->now.reg[m->held[i]];
		rest.free.core &= ~(UINT64_C(1) << m->held[i]);
	}
	rest.free.vec &= ~made_named_vectors(m);
	for (unsigned i = 0; i < MADE_VECTORS; i++) {
		bool counts = m->now.begun >> i & 1;
		uint64_t *v = expected.v[m->vectors[i]];
		if (counts || m->now.kept >> i & 1) {
			v[0] = counts ? a64_emit.vector_begun[0] : 0;
			v[1] = counts ? a64_emit.vector_begun[1] : 0;
			v[counts ? a64_emit.vector_count : 0] = m->now.vector[i];
		}
	}
	check_kept(&rest, &expected, after);
	assert_int_equal(after->sp, m->stack);
	for (unsigned i = 0; i < MADE_CELLS; i++) {
		assert_int_equal(*cell_at(o, i), m->now.cell[i]);
		*cell_at(o, i) = 0;
	}
	assert_int_equal(call_record.calls, m->now.calls);
	if (m->now.calls) {
		assert_int_equal(call_record.argument, p->argument);
		assert_int_equal(call_record.stack, after->sp);
	}
}

static void try_operations(const struct operating *o, unsigned free_count)
{
	uint64_t own = own_thread(), random = next_random(), seed = random;
	uint64_t pool = executable + WINDOW + 4096 + (random % POOL_FAR & ~UINT64_C(3));
	struct machine before, after;
	struct made_ops m;
	struct emit_probe p = {.ops = m.ops, .table = address(o->table), .table_bits = TABLE_BITS};

	set_thread(o->table, random & 1 ? own : own + 16, random & 1 ? (uint64_t *)o->area : NULL);
	randomise(&before, &seed);
	after = before;
	run_probe(&p, pool, EMIT_EXTENT, &after); /* nothing, which tells the stack pointer */
	made_begin(&m, next_random, 0x1ffbffff);
	m.area = o->area;
	m.stack = after.sp;
	for (unsigned i = 0; i < m.held_count; i++) {
		before.x[m.held[i]] = m.pinned == EMIT_HELD + m.held[i] ? o->area : made_number(&m);
		m.now.reg[m.held[i]] = before.x[m.held[i]];
		p.held.core |= UINT64_C(1) << m.held[i];
	}
	for (unsigned i = 0; i < MADE_CELLS; i++)
		*cell_at(o, i) = m.now.cell[i];
	made_ops(&m);
	p.op_count = m.count;
	made_asides(&m, &p);
	p.free = random_free(free_count, &seed);
	p.poison = random & 2;
	p.find = o->find;
	p.routine = address(machine_routine);
	p.argument = next_random();
	call_record = (struct call_record){.answer = m.answer};
	after = before;
	run_probe(&p, pool, random_extent(&seed), &after);
	check_operations(o, &m, &p, &before, &after);
}

static void test_operations(void **state)
{
	(void)state;
	struct operating o = make_operating();
	for (unsigned i = 0; i < 20000; i++)
		try_operations(&o, i % 32);
	for (size_t i = 0; i < 2 * HALF / 8; i++)
		if (o.memory[i])
			fail_msg("a write to %#zx", i * 8);
	munmap(o.table, 16 << TABLE_BITS);
	munmap(o.memory, 2 * HALF);
}

static void try_routine(unsigned free_count, uint64_t *seed)
{
	uint64_t random = random_u64(seed);
	uint64_t pool = executable + WINDOW + 4096 + (random % POOL_FAR & ~UINT64_C(3));
	struct emit_probe p = {.free = random_free(free_count, seed),
			       .poison = random >> 40 & 1,
			       .argument = random_u64(seed),
			       .routine = address(machine_routine)};
	struct machine before, after;

	if (random >> 41 & 1) { /* within reach of bl */
		p.routine = executable + 64;
		put(p.routine, &(uint32_t[]){0x58000051, 0xd61f0220}, 8); /* ldr x17, .+8; br x17 */
		put(p.routine + 8, &(uint64_t){address(machine_routine)}, 8);
	}
	call_record = (struct call_record){.answer = random};
	randomise(&before, seed);
	after = before;
	run_probe(&p, pool, EMIT_EXTENT, &after);
	check_kept(&p, &before, &after);
	assert_int_equal(call_record.calls, 1);
	assert_int_equal(call_record.argument, p.argument);
	assert_int_equal(call_record.sp + RUNTIME_CALL_FRAME_A64, after.sp);
	assert_int_equal(call_record.x16, before.x[16]);
	assert_int_equal(call_record.x17, before.x[17]);
	assert_int_equal(call_record.link, before.x[30]);
}

static void test_routine(void **state)
{
	uint64_t seed = 11;
	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		try_routine(i % 32, &seed);
}

/* The same flags come out whatever they were, and others elsewhere. */
static void test_poisoned_flags(void **state)
{
	struct emit_probe p = {.free.core = UINT64_C(1) << REG_FLAGS,
			       .poison = true,
			       .routine = address(machine_routine)};
	uint64_t seed = 13, seen = 0;
	(void)state;
	for (unsigned i = 0; i < 64; i++) {
		uint64_t pool = executable + WINDOW + 4096 + i * 4;
		struct machine m;
		randomise(&m, &seed);
		m.nzcv = 0;
		run_probe(&p, pool, EMIT_EXTENT, &m);
		uint64_t flags = m.nzcv;
		m.nzcv = 0xf0000000;
		run_probe(&p, pool, EMIT_EXTENT, &m);
		assert_int_equal(m.nzcv, flags);
		seen |= UINT64_C(1) << (flags >> 28);
	}
	assert_int_equal(seen, 0xffff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counter_text),
		cmocka_unit_test(test_counter_without_registers),
		cmocka_unit_test(test_operations_text),
		cmocka_unit_test(test_sign_text),
		cmocka_unit_test(test_vector_text),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_bad_operations),
		cmocka_unit_test(test_routine_text),
		cmocka_unit_test(test_bad_counters),
	};
	const struct CMUnitTest executed[] = {
		cmocka_unit_test(test_counter),
		cmocka_unit_test(test_operations),
		cmocka_unit_test(test_routine),
		cmocka_unit_test(test_poisoned_flags),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	return arch_native() == &arch_a64
		       ? failed + cmocka_run_group_tests(executed, make_world, drop_world)
		       : failed;
}
