/* What probes consist of in x86-64 code: as text on any machine; on an x86-64 also by executing it.
 * Probes must do what they are for and leave everything but what was free. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "isa/arch.h"
#include "made_ops.h"
#include "x64_bench.h"

static void expect_probe(struct regset unused, const char *expected)
{
	struct emit e;
	emit_init(&e, &arch_x64, BASE);
	struct emit_probe p = {.free = unused, .table_bits = 12, .counter = 0x1008};
	arch_x64.emit->probe(&e, &p);
	expect_code(&e, "probe", expected);
}

static void test_probe_text(void **state)
{
	(void)state;
	expect_probe((struct regset){.core = B(RAX) | B(R9) | B(REG_FLAGS)},
		     "rdfsbaseq %r9; movq %r9, %rax; shrq $8, %rax; andq $0xfff0, %rax; "
		     "notq %r9; addq 0x43(%rip), %rax; cmpq %r9, (%rax); jne 0x500032; movq "
		     "8(%rax), %rax; "
		     "incq 0x1008(%rax)");
	expect_probe((struct regset){.core = B(RSP)},
		     "leaq -0x80(%rsp), %rsp; pushq %rcx; pushq %rdx; pushq %rax; lahf; seto %al; "
		     "rdfsbaseq %rdx; movq %rdx, %rcx; shrq $8, %rcx; andq $0xfff0, %rcx; "
		     "notq %rdx; addq 0x57(%rip), %rcx; cmpq %rdx, (%rcx); jne 0x50004c; movq "
		     "8(%rcx), %rcx; "
		     "incq 0x1008(%rcx); addb $0x7f, %al; sahf; popq %rax; popq %rdx; popq %rcx; "
		     "leaq 0x80(%rsp), %rsp");
}

enum { HELD = EMIT_HELD + R11 };

static void expect_operations(const struct emit_op *ops, uint16_t count, uint16_t aside_from,
			      uint64_t unused, const char *expected)
{
	struct emit_probe p = {.ops = ops,
			       .op_count = count,
			       .aside_count = aside_from < count,
			       .asides[0] = {aside_from, aside_from},
			       .free.core = unused,
			       .table_bits = 12};
	struct emit e;
	emit_init(&e, &arch_x64, BASE);
	e.avx = false;
	arch_x64.emit->probe(&e, &p);
	expect_code(&e, "operations", expected);
}

static void test_operations_text(void **state)
{
	static const struct emit_op count[] = {{EMIT_COUNT, .d = 0, .a = HELD, .imm = 24}};
	static const struct emit_op value[] = {
		{EMIT_COUNT_VALUE, .d = 0, .a = HELD, .b = 1, .imm = 256}};
	static const struct emit_op check[] = {
		{EMIT_LOAD, .d = 0, .a = HELD, .imm = 8}, {EMIT_STACK, .d = 1, .imm = 16},
		{EMIT_XOR, .d = 2, .a = 0, .b = 1},       {EMIT_UNLESS_ZERO, .a = 2},
		{EMIT_STORE, .a = 0, .b = EMIT_ZERO},     {EMIT_CALL, .d = HELD}};
	/* What is told apart by its bits is needed itself. */
	static const struct emit_op kept[] = {
		{EMIT_XOR, .d = 2, .a = 0, .b = 1}, {EMIT_UNLESS_ZERO, .a = 2},
		{EMIT_IF_NEGATIVE, .a = 2},         {EMIT_MOVE, .d = 0, .a = 2},
		{EMIT_UNLESS_NEGATIVE, .a = 0},     {EMIT_CALL, .d = HELD}};
	/* Values that are only compared are compared in memory. */
	static const struct emit_op compared[] = {{EMIT_LOAD, .d = 0, .a = HELD, .imm = 8},
						  {EMIT_XOR, .d = 0, .a = 0, .b = 1},
						  {EMIT_UNLESS_ZERO, .a = 0},
						  {EMIT_LOAD, .d = 2, .a = HELD},
						  {EMIT_ADD, .d = 0, .a = 2, .imm = -300},
						  {EMIT_IF_ZERO, .a = 0},
						  {EMIT_ADD, .d = 2, .a = 1, .imm = -32},
						  {EMIT_UNLESS_NEGATIVE, .a = 2},
						  {EMIT_LOW_BITS, .d = 2, .a = 1, .imm = 48},
						  {EMIT_UNLESS_ZERO, .a = 2},
						  {EMIT_CALL, .d = HELD}};
	static const struct emit_op sums[] = {
		{EMIT_ADD_SHIFTED, .d = 0, .a = 0, .b = 1, .imm = 3},
		{EMIT_SUB_SHIFTED, .d = 0, .a = 0, .b = 1, .imm = 0},
		{EMIT_SUB_SHIFTED, .d = 0, .a = 0, .b = 1, .imm = 3},
		{EMIT_SUB_SHIFTED, .d = 0, .a = 1, .b = HELD, .imm = 0},
		{EMIT_LOW_BITS, .d = 0, .a = 0, .imm = 16}};
	uint64_t few = B(RAX) | B(RCX) | B(RDX), more = few | B(REG_FLAGS);
	(void)state;
	expect_operations(count, 1, 1, B(REG_FLAGS), "incq 0x18(%r11)");
	expect_operations(count, 1, 1, B(RAX),
			  "movq 0x18(%r11), %rax; leaq 1(%rax), %rax; movq %rax, 0x18(%r11)");
	expect_operations(value, 1, 1, more, "addq %rax, 0x100(%r11)");
	expect_operations(
		value, 1, 1, few,
		"movq 0x100(%r11), %rax; leaq (%rax, %rcx), %rax; movq %rax, 0x100(%r11)");
	expect_operations(check, 6, 5, more,
			  "movq 8(%r11), %rax; leaq 0x10(%rsp), %rcx; cmpq %rax, %rcx; "
			  "jne 0x50001a; movq $0, (%rax)");
	expect_operations(check, 6, 5, B(REG_FLAGS),
			  "leaq -0x80(%rsp), %rsp; pushq %rax; pushq %rcx; movq 8(%r11), %rax; "
			  "leaq 0xa0(%rsp), %rcx; cmpq %rax, %rcx; jne 0x50002e; "
			  "movq $0, (%rax); popq %rcx; popq %rax; leaq 0x80(%rsp), %rsp");
	expect_operations(kept, 6, 5, more,
			  "movq %rax, %rdx; xorq %rcx, %rdx; jne 0x50001e; js 0x50001e; "
			  "movq %rdx, %rax; testq %rax, %rax; jns 0x50001e");
	expect_operations(compared, 11, 10, more,
			  "cmpq %rax, 8(%r11); jne 0x50002f; cmpq $0x12c, (%r11); je 0x50002f; "
			  "cmpq $0x20, %rax; jns 0x50002f; movq %rax, %rcx; shlq $0x10, %rcx; "
			  "jne 0x50002f");
	expect_operations(sums, 5, 5, more,
			  "leaq (%rax, %rcx, 8), %rax; subq %rcx, %rax; notq %rax; "
			  "leaq (%rax, %rcx, 8), %rax; notq %rax; movq %r11, %rax; notq %rax; "
			  "leaq 1(%rcx, %rax), %rax; movzwq %ax, %rax");
}

/* Free vector registers save general ones, without a detour over the stack. */
static void test_saving_text(void **state)
{
	static const struct emit_op ops[] = {{EMIT_LOAD, .d = 0, .a = HELD},
					     {EMIT_COUNT, .d = 1, .a = 0, .imm = 8}};
	struct emit_probe p = {.ops = ops, .op_count = 2, .free.vec = 0xc000, .held.vec = 0x8000};
	struct emit e;
	(void)state;
	p.free.core = B(REG_FLAGS);
	emit_init(&e, &arch_x64, BASE);
	e.avx = false;
	arch_x64.emit->probe(&e, &p);
	expect_code(&e, "one is enough",
		    "movq %rax, %xmm14; movq (%r11), %rax; incq 8(%rax); movq %xmm14, %rax");
	p.free.core = 0;
	emit_init(&e, &arch_x64, BASE);
	e.avx = false;
	arch_x64.emit->probe(&e, &p);
	expect_code(&e, "two are needed",
		    "leaq -0x80(%rsp), %rsp; pushq %rax; pushq %rcx; movq (%r11), %rax; "
		    "movq 8(%rax), %rcx; leaq 1(%rcx), %rcx; movq %rcx, 8(%rax); popq %rcx; "
		    "popq %rax; leaq 0x80(%rsp), %rsp");
}

static void test_vector_text(void **state)
{
	static const struct emit_op ops[] = {
		{EMIT_VECTOR_BEGIN, .d = EMIT_VECTOR + 15},
		{EMIT_VECTOR_COUNT, .d = EMIT_VECTOR + 15},
		{EMIT_VECTOR_READ, .d = 0, .a = EMIT_VECTOR + 9},
		{EMIT_VECTOR_READ, .d = EMIT_HELD + 12, .a = EMIT_VECTOR + 1},
		{EMIT_TO_VECTOR, .d = EMIT_VECTOR + 8, .a = EMIT_HELD + 12},
		{EMIT_FROM_VECTOR, .d = 0, .a = EMIT_VECTOR + 2}};
	static const struct emit_op bad = {EMIT_VECTOR_COUNT, .d = EMIT_VECTOR + 16};
	struct emit_probe p;
	struct emit e;
	(void)state;
	expect_operations(ops, 6, 6, B(RAX),
			  "pxor %xmm15, %xmm15; paddq 0x22(%rip), %xmm15; movq %xmm9, %rax; "
			  "movq %xmm1, %r12; movq %r12, %xmm8; movq %xmm2, %rax");
	p = (struct emit_probe){.ops = ops, .op_count = 6, .free.core = B(RAX)};
	emit_init(&e, &arch_x64, BASE);
	e.avx = true;
	arch_x64.emit->probe(&e, &p);
	expect_code(&e, "with AVX",
		    "vpxor %xmm15, %xmm15, %xmm15; vpaddq 0x22(%rip), %xmm15, %xmm15; "
		    "vmovq %xmm9, %rax; vmovq %xmm1, %r12; vmovq %r12, %xmm8; vmovq %xmm2, %rax");
	p = (struct emit_probe){.ops = &bad, .op_count = 1};
	emit_init(&e, &arch_x64, BASE);
	arch_x64.emit->probe(&e, &p);
	assert_false(emit_finish(&e));
	emit_release(&e);
}

/* Interrupted behind its load, a count begins there again; nothing else does. */
static void expect_restart(const struct emit_op *op, uint64_t unused)
{
	struct emit_probe p = {.ops = op, .op_count = 1, .free.core = unused};
	uint32_t load = UINT32_MAX, store = 0;
	struct emit e;
	emit_init(&e, &arch_x64, BASE);
	e.avx = false;
	arch_x64.emit->probe(&e, &p);
	assert_true(emit_finish(&e));
	for (uint32_t pass = 0; pass < 2; pass++)
		for (uint32_t at = 0; at < e.bytes.len;) {
			struct insn in;
			size_t n = arch_x64.decode(e.bytes.data + at, e.bytes.len - at, BASE,
						   DECODE_FULL, &in);
			assert_true(n > 0);
			if (in.op == OP_LOAD && load == UINT32_MAX)
				load = at;
			if (in.op == OP_STORE && load != UINT32_MAX)
				store = at;
			if (pass)
				assert_int_equal(
					arch_x64.emit->restart(e.bytes.data, e.bytes.len, at),
					at > load && at <= store ? load : at);
			at += (uint32_t)n;
		}
	assert_true(store > load);
	emit_release(&e);
}

static void test_restart(void **state)
{
	static const int64_t offsets[] = {-EMIT_OFFSET_MAX, -136, -128, 0, 120, 128};
	static const uint64_t free_sets[] = {0, B(RAX) | B(RCX), B(R12) | B(R13), B(RBP) | B(R8)};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++)
		for (size_t k = 0; k < ARRAY_SIZE(free_sets); k++)
			for (unsigned reg = 0; reg < 16; reg++) {
				struct emit_op op = {EMIT_COUNT, .a = (uint8_t)(EMIT_HELD + reg),
						     .imm = offsets[i]};
				if (reg == RSP)
					continue;
				expect_restart(&op, free_sets[k]);
				op.kind = EMIT_COUNT_VALUE;
				op.b = 1;
				expect_restart(&op, free_sets[k]);
			}
}

static sigjmp_buf no_instruction;

static void on_illegal(int number)
{
	(void)number;
	siglongjmp(no_instruction, 1);
}

/* 0 if programs may not read it here. */
static uint64_t thread_pointer(void)
{
	volatile uint64_t result = 0;
	struct sigaction old, catch = {.sa_handler = on_illegal};
	sigaction(SIGILL, &catch, &old);
	memcpy(memory + ORIGINAL, "\xf3\x48\x0f\xae\xc0", 5);
	put_way_out(ORIGINAL + 5, FELL_THROUGH);
	if (sigsetjmp(no_instruction, 1) == 0) {
		struct outcome start = random_start();
		result = run(&start, ORIGINAL).world.reg[RAX];
	}
	sigaction(SIGILL, &old, NULL);
	return result;
}

static uint64_t need_thread_pointer(void)
{
	need_execution();
	uint64_t thread = thread_pointer();
	if (!thread) {
		print_message("# rdfsbase is not permitted here\n");
		skip();
	}
	return thread;
}

/* mov $value, %rax; ret */
static void put_find(uint64_t value)
{
	memcpy(memory + FIND, "\x48\xb8", 2);
	memcpy(memory + FIND + 2, &value, 8);
	memory[FIND + 10] = 0xc3;
}

/* Few or many registers, with and without flags; at times the stack pointer, which never is. */
static struct regset random_set(void)
{
	struct regset s = {.core = random_word() & random_word(), .vec = (uint32_t)random_word()};
	unsigned sparse = random_word() % 4;
	for (unsigned i = 0; i < sparse; i++)
		s.core &= random_word();
	s.core &= 0xffff;
	if (random_word() % 2)
		s.core |= B(REG_FLAGS);
	return s;
}

/* Where registers were free, y's value becomes x's. With `poisoned` it must have been overwritten.
 */
static void pardon_free(struct outcome *x, const struct outcome *y, const struct regset *unused,
			bool poisoned)
{
	for (unsigned i = 0; i < 16; i++) {
		if (i != RSP && regset_has(unused, i)) {
			if (poisoned && x->world.reg[i] == y->world.reg[i])
				fail_msg("%s is not poisoned", arch_x64.reg_name(i));
			x->world.reg[i] = y->world.reg[i];
		}
		if (!(unused->vec >> i & 1))
			continue;
		if (poisoned) {
			assert_true(y->world.xmm[i][0] == UINT64_MAX);
			assert_true(y->world.xmm[i][1] == UINT64_MAX);
		}
		memcpy(x->world.xmm[i], y->world.xmm[i], sizeof(x->world.xmm[i]));
	}
	if (!regset_has(unused, REG_FLAGS))
		return;
	uint64_t arithmetic = FLAGS_COMPARED & ~UINT64_C(0x400);
	if (poisoned)
		assert_true((y->world.flags & (CARRY | ZERO)) == (CARRY | ZERO));
	x->world.flags = (x->world.flags & ~arithmetic) | (y->world.flags & arithmetic);
}

/* Everything is as `expected` but what was free; the red zone too, but nothing below it. */
static void run_probe_from(const struct emit_probe *p, const struct outcome *start,
			   struct outcome *expected)
{
	put_way_out(TAKEN, WAS_TAKEN);
	struct emit e;
	emit_init(&e, &arch_x64, at(MOVED));
	arch_x64.emit->probe(&e, p);
	arch_x64.emit->go(&e, (struct emit_target){LABEL_NONE, at(TAKEN)});
	assert_true(install(&e, "probe") <= emit_probe_bound(p) + 5 + 15);
	struct outcome end = run(start, MOVED);
	struct regset unused = regset_without(p->free, p->held);
	expected->exit = WAS_TAKEN;
	pardon_free(expected, &end, &unused, p->poison);
	expect_same("probe", expected, &end, STACK_WORDS / 2 - 128 / 8);
}

static void run_probe(const struct emit_probe *p, struct outcome *start)
{
	*start = random_start();
	struct outcome expected = *start;
	run_probe_from(p, start, &expected);
}

enum { OURS, FOUND, CASES };

static void count_once(uint64_t thread, unsigned which)
{
	struct emit_probe p = {
		.free = random_set(),
		.poison = random_word() % 2,
		.counter = (uint32_t)(random_word() % (random_word() % 2 ? 8 : 4096)) * 8,
		.table = at(TABLE),
		.table_bits = TABLE_BITS,
		.find = at(FIND),
	};
	uint64_t *entry = words_at(TABLE) + 2 * (thread >> 12 & ((1 << TABLE_BITS) - 1));
	entry[0] = ~(which == OURS ? thread : thread ^ 1);
	entry[1] = at(AREA);
	put_find(at(OTHER_AREA));
	uint64_t *ours = words_at(AREA + p.counter), *other = words_at(OTHER_AREA + p.counter);
	*ours = random_word();
	*other = random_word();
	uint64_t before = *ours, other_before = *other;
	struct outcome start;
	run_probe(&p, &start);
	assert_int_equal(*ours - before, which == OURS);
	assert_int_equal(*other - other_before, which == FOUND);
}

static void test_counter(void **state)
{
	(void)state;
	uint64_t thread = need_thread_pointer();
	for (unsigned i = 0; i < 3000; i++)
		count_once(thread, i % CASES);
}

/* What the routine leaves at SEEN, and what it answers. */
struct seen {
	uint64_t sp, argument, rax, stack, calls, answer;
};

/* mov %rsp, sp; mov %rax, argument; push 8(%rsp); pop rax; push 16(%rsp); pop stack;
 * mov calls, %rax; lea 1(%rax), %rax; mov %rax, calls; mov answer, %rax; ret */
static void put_routine(void)
{
	static const uint8_t code[] =
		"\x48\x89\x25....\x48\x89\x05....\xff\x74\x24\x08\x8f\x05....\xff\x74\x24\x10"
		"\x8f\x05....\x48\x8b\x05....\x48\x8d\x40\x01\x48\x89\x05....\x48\x8b\x05....\xc3";
	static const uint8_t places[] = {3, 10, 20, 30, 37, 48, 55},
			     words[] = {0, 1, 2, 3, 4, 4, 5};
	memcpy(memory + ROUTINE, code, sizeof(code) - 1);
	for (unsigned i = 0; i < ARRAY_SIZE(places); i++)
		put32(memory + ROUTINE + places[i],
		      at(SEEN + 8u * words[i]) - at(ROUTINE + places[i] + 4u));
}

static struct seen *seen(void)
{
	return (struct seen *)(void *)(memory + SEEN);
}

static void test_routine(void **state)
{
	(void)state;
	need_execution();
	put_routine();
	for (unsigned i = 0; i < 300; i++) {
		struct emit_probe p = {
			.free = random_set(),
			.poison = random_word() % 2,
			.routine = at(ROUTINE),
			.argument = random_word(),
		};
		struct outcome start;
		run_probe(&p, &start);
		assert_true(seen()->sp + 8 + RUNTIME_CALL_FRAME_X64 == at(STACK));
		assert_true(seen()->argument == p.argument);
		assert_true(seen()->rax == start.world.reg[RAX]);
	}
}

enum { HALF = EMIT_OFFSET_MAX + 4096 };

/* The area is in the middle of the memory. */
static void try_operations(uint64_t thread, uint64_t *area)
{
	struct made_ops m;
	struct outcome start = random_start(), expected;
	struct emit_probe p = {.free = random_set(),
			       .poison = random_word() % 2,
			       .ops = m.ops,
			       .table = at(TABLE),
			       .table_bits = TABLE_BITS,
			       .find = at(FIND),
			       .routine = at(ROUTINE),
			       .argument = random_word() >> random_word() % 64};
	uint64_t *entry = words_at(TABLE) + 2 * (thread >> 12 & ((1 << TABLE_BITS) - 1));
	entry[0] = random_word() % 2 ? ~thread : thread;
	entry[1] = entry[0] == ~thread ? (uint64_t)(uintptr_t)area : 0;

	made_begin(&m, random_word, 0xffff & ~B(RSP));
	m.area = (uint64_t)(uintptr_t)area;
	m.stack = at(STACK);
	for (unsigned i = 0; i < m.held_count; i++) {
		uint8_t reg = m.held[i];
		start.world.reg[reg] = m.pinned == EMIT_HELD + reg ? m.area : made_number(&m);
		m.now.reg[reg] = start.world.reg[reg];
		p.held.core |= B(reg);
	}
	for (unsigned i = 0; i < MADE_CELLS; i++)
		area[made_cells[i] / 8] = m.now.cell[i];
	made_ops(&m);
	p.op_count = m.count;
	made_asides(&m, &p);
	expected = start;
	for (unsigned i = 0; i < m.held_count; i++)
		expected.world.reg[m.held[i]] = m.now.reg[m.held[i]];
	p.held.vec = made_named_vectors(&m);
	for (unsigned i = 0; i < MADE_VECTORS; i++)
		if ((m.now.begun | m.now.kept) >> i & 1) {
			expected.world.xmm[m.vectors[i]][0] = m.now.vector[i];
			expected.world.xmm[m.vectors[i]][1] = 0;
		}
	*seen() = (struct seen){.answer = m.answer};
	run_probe_from(&p, &start, &expected);
	for (unsigned i = 0; i < MADE_CELLS; i++) {
		assert_int_equal(area[made_cells[i] / 8], m.now.cell[i]);
		area[made_cells[i] / 8] = 0;
	}
	assert_int_equal(seen()->calls, m.now.calls);
	if (m.now.calls) {
		assert_int_equal(seen()->argument, p.argument);
		assert_int_equal(seen()->stack, at(STACK));
	}
}

static void test_operations(void **state)
{
	(void)state;
	uint64_t thread = need_thread_pointer();
	uint64_t *data =
		mmap(NULL, 2 * HALF, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(data != MAP_FAILED);
	put_routine();
	put_find((uint64_t)(uintptr_t)(data + HALF / 8));
	for (unsigned i = 0; i < 20000; i++)
		try_operations(thread, data + HALF / 8);
	for (size_t i = 0; i < 2 * HALF / 8; i++)
		if (data[i])
			fail_msg("a write to %#zx", i * 8);
	munmap(data, 2 * HALF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_probe_text),  cmocka_unit_test(test_operations_text),
		cmocka_unit_test(test_saving_text), cmocka_unit_test(test_vector_text),
		cmocka_unit_test(test_restart),
	};
	const struct CMUnitTest executed[] = {
		cmocka_unit_test(test_counter),
		cmocka_unit_test(test_routine),
		cmocka_unit_test(test_operations),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	return arch_native() == &arch_x64
		       ? failed + cmocka_run_group_tests(executed, map_memory, NULL)
		       : failed;
}
