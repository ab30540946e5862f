/* Writing A64 code.
 *
 * On any host the text of what is written is compared. On aarch64 it is also executed: an
 * instruction at its own place and its moved form elsewhere, from the same random registers, must
 * leave the same registers and go to the same place; a probe must change nothing but what is free.
 *
 * The world that code is executed in is one large memfd, mapped twice: read and execute, and for
 * writing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text.h"
#include "base/vec.h"
#include "isa/a64/words.h"
#include "isa/arch.h"
#include "isa/text.h"

#define PLACE UINT64_C(0x40000000) /* of the code written */
#define FROM  UINT64_C(0x44000000) /* of the instructions moved there */

static uint64_t random_u64(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	uint64_t high = *seed >> 32;
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return high << 32 | *seed >> 32;
}

static void decode_at(uint32_t word, uint64_t pc, uint8_t *bytes, struct insn *in)
{
	for (unsigned i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(word >> 8 * i);
	if (arch_a64.decode(bytes, 4, pc, DECODE_FULL, in) != 4)
		fail_msg("%08x is no instruction", word);
}

static struct emit_target at_pc(uint64_t pc)
{
	return (struct emit_target){.label = LABEL_NONE, .pc = pc};
}

static struct emit_target at_label(uint32_t label)
{
	return (struct emit_target){.label = label};
}

/* Whichever operation is meant for the instruction. */
static void transfer(struct emit *e, uint32_t word, uint64_t pc, struct emit_target taken)
{
	uint8_t bytes[4];
	struct insn in;
	decode_at(word, pc, bytes, &in);
	if (in.kind == INSN_BRANCH)
		a64_emit.branch(e, &in, bytes, taken);
	else if (in.kind == INSN_CALL || in.kind == INSN_CALL_INDIRECT)
		a64_emit.call(e, &in, bytes, pc + 4);
	else
		a64_emit.move(e, &in, bytes);
}

static void expect_text(struct emit *e, const char *expected)
{
	struct insn_printer *p = insn_printer_new(&arch_a64);
	struct text t = TEXT_INIT;
	assert_true(emit_finish(e));
	for (uint32_t i = 0; i + 4 <= e->bytes.len; i += 4) {
		insn_print(p, e->bytes.data + i, 4, e->base + i, &t);
		text_add(&t, "\n");
	}
	assert_string_equal(t.data, expected);
	text_release(&t);
	insn_printer_free(p);
	emit_release(e);
}

static const struct {
	uint32_t word;
	const char *expected;
} moves[] = {
	{0x10000081, "adrp x1, #0x44000000\nadd x1, x1, #0x10\n"}, /* adr x1, .+16 */
	{0x1000009f, "nop\n"},                                     /* adr xzr */
	{0xf0000002, "adrp x2, #0x44003000\n"},                    /* adrp x2, .+0x3000 */
	{0x18000083, "adrp x3, #0x44000000\nadd x3, x3, #0x10\nldr w3, [x3]\n"},
	{0x58000083, "adrp x3, #0x44000000\nadd x3, x3, #0x10\nldr x3, [x3]\n"},
	{0x98000083, "adrp x3, #0x44000000\nadd x3, x3, #0x10\nldrsw x3, [x3]\n"},
	{0x5800009f, "str x16, [sp, #-0x10]!\nadrp x16, #0x44000000\nadd x16, x16, #0x10\n"
		     "ldr xzr, [x16]\nldr x16, [sp], #0x10\n"},
	{0x1c000083, "str x16, [sp, #-0x10]!\nadrp x16, #0x44000000\nadd x16, x16, #0x10\n"
		     "ldr s3, [x16]\nldr x16, [sp], #0x10\n"},
	{0x5c000083, "str x16, [sp, #-0x10]!\nadrp x16, #0x44000000\nadd x16, x16, #0x10\n"
		     "ldr d3, [x16]\nldr x16, [sp], #0x10\n"},
	{0x9c000083, "str x16, [sp, #-0x10]!\nadrp x16, #0x44000000\nadd x16, x16, #0x10\n"
		     "ldr q3, [x16]\nldr x16, [sp], #0x10\n"},
	{0xd8000080, "nop\n"}, /* prfm pldl1keep, .+16 */
	{0x54000080, "b.eq #0x40000010\n"},
	{0x34000085, "cbz w5, #0x40000010\n"},
	{0xb7f80085, "tbnz x5, #0x3f, #0x40000010\n"},
	{0x94000004, "adrp x30, #0x44000000\nadd x30, x30, #4\nb #0x44000010\n"}, /* bl */
	{0xd63f0020, "adrp x30, #0x44000000\nadd x30, x30, #4\nbr x1\n"},         /* blr x1 */
	{0xd61f03c0, "br x30\n"},
	{0xd65f03c0, "ret\n"},
	{0xd4000001, "svc #0\n"},
	{0xd503233f, "paciasp\n"},
	{0xd503245f, "bti c\n"},
};

static void test_move_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(moves); i++) {
		struct emit e;
		emit_init(&e, &arch_a64, PLACE);
		transfer(&e, moves[i].word, FROM, at_pc(PLACE + 16));
		expect_text(&e, moves[i].expected);
	}
}

static void test_far_branches(void **state)
{
	static const struct {
		uint32_t word;
		const char *expected;
	} rows[] = {
		{0x54000080, "b.ne #0x40000008\nb #0x44000100\n"},
		{0x54000083, "b.hs #0x40000008\nb #0x44000100\n"},
		{0x34000085, "cbnz w5, #0x40000008\nb #0x44000100\n"},
		{0xb5000085, "cbz x5, #0x40000008\nb #0x44000100\n"},
		{0xb7f80085, "tbz x5, #0x3f, #0x40000008\nb #0x44000100\n"},
		{0x36000085, "tbnz w5, #0, #0x40000008\nb #0x44000100\n"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct emit e;
		emit_init(&e, &arch_a64, PLACE);
		transfer(&e, rows[i].word, FROM, at_pc(FROM + 256));
		expect_text(&e, rows[i].expected);
	}
}

/* Authenticated calls, which Capstone cannot print, become the jumps of the same name. */
static void test_authenticated_calls(void **state)
{
	static const struct {
		uint32_t call, jump;
	} rows[] = {
		{0xd63f081f | 1 << 5, 0xd61f081f | 1 << 5}, /* blraaz x1 */
		{0xd63f0c1f | 1 << 5, 0xd61f0c1f | 1 << 5}, /* blrabz x1 */
		{0xd73f0822, 0xd71f0822},                   /* blraa x1, x2 */
		{0xd73f0c3f, 0xd71f0c3f},                   /* blrab x1, sp */
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct emit e;
		emit_init(&e, &arch_a64, FROM + 0x100000);
		transfer(&e, rows[i].call, FROM, at_pc(0));
		assert_true(emit_finish(&e));
		assert_int_equal(a64_word(e.bytes.data + e.bytes.len - 4), rows[i].jump);
		emit_release(&e);
	}
}

static void expect_failure(uint32_t word, uint64_t place, struct emit_target taken)
{
	struct emit e;
	emit_init(&e, &arch_a64, place);
	transfer(&e, word, FROM, taken);
	assert_false(emit_finish(&e));
	emit_release(&e);
}

static void test_impossible(void **state)
{
	(void)state;
	expect_failure(0xd63f03c0, PLACE, at_pc(0)); /* blr x30: no register is left */
	expect_failure(0xd63f0bdf, PLACE, at_pc(0)); /* blraaz x30 */
	expect_failure(0xd73f083e, PLACE, at_pc(0)); /* blraa x1, x30 */
	expect_failure(0x14000004, PLACE, at_pc(0)); /* a jump is not moved but made by go() */
	expect_failure(0x94000004, PLACE + (UINT64_C(1) << 32), at_pc(0));
	expect_failure(0x54000080, PLACE, at_pc(PLACE + (UINT64_C(1) << 28)));
	expect_failure(0x54000080, PLACE, at_pc(PLACE + 2));
}

static void test_plain_is_copied(void **state)
{
	uint64_t seed = 1;
	uint32_t copied = 0;
	(void)state;
	for (int i = 0; i < 100000; i++) {
		uint32_t word = (uint32_t)random_u64(&seed);
		uint8_t bytes[4];
		struct insn in;
		struct emit e;
		for (unsigned j = 0; j < 4; j++)
			bytes[j] = (uint8_t)(word >> 8 * j);
		bool place_matters =
			(word & 0x1f000000) == 0x10000000 || (word & 0x3b000000) == 0x18000000;
		if (!arch_a64.decode(bytes, 4, FROM, DECODE_FULL, &in) || in.kind != INSN_PLAIN ||
		    place_matters)
			continue;
		emit_init(&e, &arch_a64, PLACE);
		a64_emit.move(&e, &in, bytes);
		assert_int_equal(e.bytes.len, 4);
		assert_memory_equal(e.bytes.data, bytes, 4);
		emit_release(&e);
		copied++;
	}
	assert_true(copied > 10000);
}

/* Each is reached by executing it, but only on aarch64; here it is interpreted. */
static uint64_t interpret_set(const struct emit *e)
{
	uint64_t value = 0;
	for (uint32_t i = 0; i < e->bytes.len; i += 4) {
		uint8_t bytes[4];
		struct insn in;
		uint32_t word = a64_word(e->bytes.data + i), imm = word >> 5 & 0xffff;
		unsigned shift = 16 * (word >> 21 & 3);
		decode_at(word, e->base + i, bytes, &in);
		assert_int_equal(word & 31, 7);
		if (in.op == OP_SET)
			value = (uint64_t)in.imm;
		else if (in.op == OP_ADD)
			value += (uint64_t)in.imm;
		else if ((word & 0xff800000) == 0xf2800000) /* movk */
			value = (value & ~(UINT64_C(0xffff) << shift)) | (uint64_t)imm << shift;
		else
			fail_msg("%08x sets no register", word);
	}
	return value;
}

static void test_set_register(void **state)
{
	static const uint64_t near[] = {0, 4, 0xfffff, 0x100000, 0x100001, 0xfffff000, 0x100000000};
	uint64_t seed = 5;
	(void)state;
	for (unsigned i = 0; i < 2000; i++) {
		uint64_t base = random_u64(&seed) >> 16 & ~UINT64_C(3), value;
		uint64_t keep = random_u64(&seed), noise = random_u64(&seed);
		if (i < 2 * ARRAY_SIZE(near))
			value = i % 2 ? base + near[i / 2] : base - near[i / 2];
		else /* random quarters, all zeros and all ones */
			value = (random_u64(&seed) & (keep & 1 ? UINT64_MAX : 0xffff0000ffff)) |
				(noise & 1 ? UINT64_C(0xffff) << 16 * (noise >> 1 & 3) : 0);
		struct emit e;
		emit_init(&e, &arch_a64, base);
		a64_set_register(&e, 7, value);
		assert_true(emit_finish(&e) && e.bytes.len <= 16);
		assert_int_equal(interpret_set(&e), value);
		emit_release(&e);
	}
}

static void test_jump(void **state)
{
	uint64_t reach = a64_emit.jump_reach;
	uint8_t bytes[8];
	struct insn in;
	(void)state;
	assert_int_equal(a64_emit.jump(bytes, FROM, FROM + reach), a64_emit.jump_size);
	assert_int_equal(arch_a64.decode(bytes, 4, FROM, DECODE_FULL, &in), 4);
	assert_int_equal(in.kind, INSN_JUMP);
	assert_int_equal(in.target, FROM + reach);
	assert_int_equal(a64_emit.jump(bytes, FROM, FROM - reach), a64_emit.jump_size);
	assert_int_equal(arch_a64.decode(bytes, 4, FROM, DECODE_FULL, &in), 4);
	assert_int_equal(in.target, FROM - reach);
	assert_int_equal(a64_emit.jump(bytes, FROM, FROM + reach + 4), 0);
	assert_int_equal(a64_emit.jump(bytes, FROM, FROM - reach - 8), 0);
	assert_int_equal(arch_a64.decode(a64_emit.trap, a64_emit.trap_size, FROM, DECODE_FULL, &in),
			 4);
	assert_int_equal(in.kind, INSN_TRAP);
}

/* A branch over `size` bytes of other code; false if it cannot be written. */
static bool branch_over(uint32_t word, uint32_t size, uint32_t extent, bool backwards)
{
	struct emit e;
	emit_init(&e, &arch_a64, PLACE);
	e.extent = extent;
	uint32_t label = emit_label(&e);
	if (backwards)
		emit_place(&e, label);
	else
		transfer(&e, word, FROM, at_label(label));
	while (e.bytes.len < size)
		a64_put(&e, A64_NOP);
	if (backwards)
		transfer(&e, word, FROM, at_label(label));
	else
		emit_place(&e, label);
	a64_put(&e, A64_NOP);
	bool ok = emit_finish(&e);
	emit_release(&e);
	return ok;
}

static void test_label_reach(void **state)
{
	const uint32_t eq = 0x54000080, tbz = 0x36000085, above = (1 << 20) + 64;
	(void)state;
	const uint32_t small = a64_emit.small_size, usual = EMIT_EXTENT, large = UINT32_MAX;
	assert_true(branch_over(eq, usual, usual, false));
	assert_false(branch_over(eq, above, usual, false));
	assert_true(branch_over(eq, above, large, false));
	assert_true(branch_over(eq, above, usual, true));
	assert_true(branch_over(tbz, small, small, false));
	assert_false(branch_over(tbz, small + 4, small, false));
	assert_true(branch_over(tbz, small + 4, small + 4, false));
	assert_true(branch_over(tbz, above, usual, false));
	assert_true(branch_over(tbz, above, usual, true));
}

static void test_labels(void **state)
{
	struct emit e;
	(void)state;
	emit_init(&e, &arch_a64, PLACE);
	uint32_t back = emit_label(&e), forth = emit_label(&e);
	emit_place(&e, back);
	a64_emit.go(&e, at_label(forth));
	transfer(&e, 0x36000085, FROM, at_label(back));
	transfer(&e, 0x36000085, FROM, at_label(forth));
	emit_place(&e, forth);
	a64_emit.go(&e, at_label(back));
	expect_text(&e, "b #0x40000010\ntbz w5, #0, #0x40000000\ntbnz w5, #0, #0x40000010\n"
			"b #0x40000010\nb #0x40000000\n");

	emit_init(&e, &arch_a64, PLACE);
	a64_emit.go(&e, at_label(emit_label(&e))); /* nowhere */
	assert_false(emit_finish(&e));
	emit_release(&e);
}

/* br x3 and, not to be told, braaz x3. */
static void test_match(void **state)
{
	static const uint8_t jump[] = {0x60, 0x00, 0x1f, 0xd6},
			     signed_jump[] = {0x7f, 0x08, 0x1f, 0xd6};
	struct regset unused = {.core = 1 << 3 | 1 << 9}, none = {0};
	struct emit_way way = {PLACE + 0x100, at_pc(PLACE)};
	struct emit e;
	struct insn in;
	(void)state;
	assert_int_equal(arch_a64.decode(jump, sizeof(jump), FROM, DECODE_FULL, &in), 4);
	assert_true(a64_emit.can_match(&in, jump, &none));
	assert_false(a64_emit.can_match(&in, signed_jump, &unused));
	emit_init(&e, &arch_a64, PLACE);
	a64_emit.match(&e, &in, jump, &unused, &way, 1);
	expect_text(&e,
		    "adr x9, #0x40000100\neor x9, x9, x3\ncbnz x9, #0x40000010\nb #0x40000000\n");
	emit_init(&e, &arch_a64, PLACE);
	a64_emit.match(&e, &in, jump, &none, &way, 1);
	expect_text(&e, "str x16, [sp, #-0x10]!\nadr x16, #0x40000100\neor x16, x16, x3\n"
			"cbnz x16, #0x40000018\nldr x16, [sp], #0x10\nb #0x40000000\n"
			"ldr x16, [sp], #0x10\n");
}

static void test_literals(void **state)
{
	static const uint8_t expected[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
	struct emit e;
	(void)state;
	emit_init(&e, &arch_a64, PLACE + 8);
	uint32_t label = emit_literal(&e, 0x0807060504030201, 0x100f0e0d0c0b0a09);
	assert_int_not_equal(emit_literal(&e, 1, 0), label);
	assert_int_equal(emit_literal(&e, 0x0807060504030201, 0x100f0e0d0c0b0a09), label);
	a64_put_to(&e, 0x58000003, A64_DISTANCE_19, at_label(label)); /* ldr x3, label */
	assert_true(emit_finish(&e));
	assert_int_equal(e.bytes.len, 40);
	assert_int_equal(a64_word(e.bytes.data), 0x58000003 | 8 / 4 << 5);
	assert_memory_equal(e.bytes.data + 8, expected, sizeof(expected));
	emit_release(&e);
}

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
	expect_probe(&p,
		     "stp x9, x10, [sp, #-0x20]!\nstr x11, [sp, #0x10]\n"
		     "mrs x10, tpidr_el0\nmovz x11, #0x5000, lsl #16\nmovk x11, #0x1234, lsl #32\n"
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
			  "stp x30, x17, [sp, #0x10]\nmovz x16, #0x5\nbl #0x40030000\n"
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
			 "adr x16, #0x40000040\nmovz x17, #0x1000\n"
			 "movk x17, #0x7fff, lsl #32\nblr x17\nldr x30, [sp, #0x10]\n"
			 "ldp x16, x17, [sp], #0x20\n");
	p.poison = true;
	p.free = (struct regset){.core = UINT64_C(1) << 16 | UINT64_C(1) << REG_FLAGS, .vec = 4};
	expect_probe(&p, "stp x16, x17, [sp, #-0x20]!\nstr x30, [sp, #0x10]\n"
			 "adr x16, #0x40000040\nmovz x17, #0x1000\n"
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

/* All that an instruction may change; `exit` tells where control went. */
struct machine {
	uint64_t x[31], nzcv;
	uint64_t v[32][2];
	uint64_t exit, sp;
};

/* Stands for the routines of the runtime: what they are called with, and what they answer. */
struct call_record {
	uint64_t calls, argument, sp, x16, x17, link;
	uint64_t answer;
	uint64_t stack; /* what an operation passes as the program's stack pointer */
};

#ifdef __aarch64__
#include "made_ops.h"

struct call_record call_record;
void machine_run(struct machine *m, uint64_t code);
void machine_exit(void);
void machine_routine(void);

/* machine_run() loads all registers from *m and jumps to the code, whose first instruction has to
 * be "ldr x17, [sp, #24]". Exits store x0 and x1 at [sp] and come to machine_exit with the number
 * of the exit in x0. machine_routine() may be called as the runtime is. */
__asm__(".text\n"
	".global machine_run, machine_exit, machine_routine\n"
	"machine_run:\n"
	"	stp x29, x30, [sp, #-224]!\n"
	"	stp x19, x20, [sp, #64]\n	stp x21, x22, [sp, #80]\n"
	"	stp x23, x24, [sp, #96]\n	stp x25, x26, [sp, #112]\n"
	"	stp x27, x28, [sp, #128]\n	str x18, [sp, #144]\n"
	"	stp d8, d9, [sp, #160]\n	stp d10, d11, [sp, #176]\n"
	"	stp d12, d13, [sp, #192]\n	stp d14, d15, [sp, #208]\n"
	"	sub sp, sp, #32\n"
	"	ldr x2, [x0, #136]\n	stp x0, x2, [sp, #16]\n"
	"	mov x17, x1\n"
	"	ldr x1, [x0, #248]\n	msr nzcv, x1\n"
	"	add x1, x0, #256\n"
	"	ldp q0, q1, [x1]\n	ldp q2, q3, [x1, #32]\n"
	"	ldp q4, q5, [x1, #64]\n	ldp q6, q7, [x1, #96]\n"
	"	ldp q8, q9, [x1, #128]\n	ldp q10, q11, [x1, #160]\n"
	"	ldp q12, q13, [x1, #192]\n	ldp q14, q15, [x1, #224]\n"
	"	ldp q16, q17, [x1, #256]\n	ldp q18, q19, [x1, #288]\n"
	"	ldp q20, q21, [x1, #320]\n	ldp q22, q23, [x1, #352]\n"
	"	ldp q24, q25, [x1, #384]\n	ldp q26, q27, [x1, #416]\n"
	"	ldp q28, q29, [x1, #448]\n	ldp q30, q31, [x1, #480]\n"
	"	ldp x2, x3, [x0, #16]\n	ldp x4, x5, [x0, #32]\n"
	"	ldp x6, x7, [x0, #48]\n	ldp x8, x9, [x0, #64]\n"
	"	ldp x10, x11, [x0, #80]\n	ldp x12, x13, [x0, #96]\n"
	"	ldp x14, x15, [x0, #112]\n	ldr x16, [x0, #128]\n"
	"	ldp x18, x19, [x0, #144]\n	ldp x20, x21, [x0, #160]\n"
	"	ldp x22, x23, [x0, #176]\n	ldp x24, x25, [x0, #192]\n"
	"	ldp x26, x27, [x0, #208]\n	ldp x28, x29, [x0, #224]\n"
	"	ldr x30, [x0, #240]\n"
	"	ldp x0, x1, [x0]\n"
	"	br x17\n"
	"machine_exit:\n"
	"	ldr x1, [sp, #16]\n"
	"	str x0, [x1, #768]\n"
	"	stp x2, x3, [x1, #16]\n	stp x4, x5, [x1, #32]\n"
	"	stp x6, x7, [x1, #48]\n	stp x8, x9, [x1, #64]\n"
	"	stp x10, x11, [x1, #80]\n	stp x12, x13, [x1, #96]\n"
	"	stp x14, x15, [x1, #112]\n	stp x16, x17, [x1, #128]\n"
	"	stp x18, x19, [x1, #144]\n	stp x20, x21, [x1, #160]\n"
	"	stp x22, x23, [x1, #176]\n	stp x24, x25, [x1, #192]\n"
	"	stp x26, x27, [x1, #208]\n	stp x28, x29, [x1, #224]\n"
	"	mrs x2, nzcv\n	stp x30, x2, [x1, #240]\n"
	"	mov x2, sp\n	str x2, [x1, #776]\n"
	"	ldp x2, x3, [sp]\n	stp x2, x3, [x1]\n"
	"	add x1, x1, #256\n"
	"	stp q0, q1, [x1]\n	stp q2, q3, [x1, #32]\n"
	"	stp q4, q5, [x1, #64]\n	stp q6, q7, [x1, #96]\n"
	"	stp q8, q9, [x1, #128]\n	stp q10, q11, [x1, #160]\n"
	"	stp q12, q13, [x1, #192]\n	stp q14, q15, [x1, #224]\n"
	"	stp q16, q17, [x1, #256]\n	stp q18, q19, [x1, #288]\n"
	"	stp q20, q21, [x1, #320]\n	stp q22, q23, [x1, #352]\n"
	"	stp q24, q25, [x1, #384]\n	stp q26, q27, [x1, #416]\n"
	"	stp q28, q29, [x1, #448]\n	stp q30, q31, [x1, #480]\n"
	"	add sp, sp, #32\n"
	"	ldp x19, x20, [sp, #64]\n	ldp x21, x22, [sp, #80]\n"
	"	ldp x23, x24, [sp, #96]\n	ldp x25, x26, [sp, #112]\n"
	"	ldp x27, x28, [sp, #128]\n	ldr x18, [sp, #144]\n"
	"	ldp d8, d9, [sp, #160]\n	ldp d10, d11, [sp, #176]\n"
	"	ldp d12, d13, [sp, #192]\n	ldp d14, d15, [sp, #208]\n"
	"	ldp x29, x30, [sp], #224\n"
	"	ret\n"
	"machine_routine:\n"
	"	stp x0, x1, [sp, #-16]!\n"
	"	adrp x0, call_record\n	add x0, x0, :lo12:call_record\n"
	"	ldr x1, [x0]\n	add x1, x1, #1\n"
	"	stp x1, x16, [x0]\n"
	"	add x1, sp, #16\n	str x1, [x0, #16]\n"
	"	ldr x1, [sp, #16]\n	str x1, [x0, #24]\n"
	"	ldr x1, [sp, #24]\n	str x1, [x0, #32]\n"
	"	ldr x1, [sp, #32]\n	str x1, [x0, #40]\n"
	"	ldr x1, [sp, #40]\n	str x1, [x0, #56]\n"
	"	ldr x16, [x0, #48]\n	mov x17, #17\n"
	"	ldp x0, x1, [sp], #16\n"
	"	ret\n");

/* Everything else is within these distances of the window, and the entry within reach of all. */
enum {
	WORLD = 128 << 20,
	WINDOW = 64 << 20,
	ENTRY = 0,
	POOL_FAR = 48 << 20,
	TARGET_FAR = 48 << 20
};

/* The two mappings of the world. */
static uint8_t *writable;
static uint64_t executable;

static int make_world(void **state)
{
	int fd = memfd_create("world", 0);
	(void)state;
	if (fd < 0 || ftruncate(fd, WORLD))
		return -1;
	writable = mmap(NULL, WORLD, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	void *code = mmap(NULL, WORLD, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	executable = (uint64_t)(uintptr_t)code;
	close(fd);
	return writable == MAP_FAILED || code == MAP_FAILED ? -1 : 0;
}

static int drop_world(void **state)
{
	(void)state;
	munmap(writable, WORLD);
	munmap((void *)(uintptr_t)executable, WORLD);
	return 0;
}

static void put(uint64_t pc, const void *bytes, size_t n)
{
	char *code = (char *)(uintptr_t)pc;
	memcpy(writable + (pc - executable), bytes, n);
	__builtin___clear_cache(code, code + n);
}

static void put_u32(uint64_t pc, uint32_t word)
{
	put(pc, &word, sizeof(word));
}

enum { EXIT_SIZE = 24 };

/* Code that ends the run and reports `number`. */
static void put_exit(uint64_t pc, uint32_t number)
{
	uint64_t routine = (uint64_t)(uintptr_t)machine_exit;
	const uint32_t words[EXIT_SIZE / 4] = {
		0xa90007e0,               /* stp x0, x1, [sp] */
		0xd2800000 | number << 5, /* mov x0, #number */
		0x58000041,               /* ldr x1, .+8 */
		0xd61f0020,               /* br x1 */
		(uint32_t)routine,
		(uint32_t)(routine >> 32),
	};
	put(pc, words, sizeof(words));
}

static void run(struct machine *m, uint64_t pc)
{
	uint8_t jump[4];
	put_u32(executable + ENTRY, 0xf9400ff1); /* ldr x17, [sp, #24] */
	assert_int_equal(a64_emit.jump(jump, executable + ENTRY + 4, pc), 4);
	put(executable + ENTRY + 4, jump, 4);
	machine_run(m, executable + ENTRY);
}

static void randomise(struct machine *m, uint64_t *seed)
{
	for (unsigned i = 0; i < 31; i++)
		m->x[i] = random_u64(seed) & 3 ? random_u64(seed) : 0;
	for (unsigned i = 0; i < 32; i++)
		m->v[i][0] = random_u64(seed), m->v[i][1] = random_u64(seed);
	m->nzcv = random_u64(seed) & 0xf0000000;
	m->exit = UINT64_MAX;
	m->sp = 0;
}

/* Returns its size. */
static uint32_t finish(struct emit *e)
{
	assert_true(emit_finish(e));
	uint32_t size = e->bytes.len;
	put(e->base, e->bytes.data, size);
	emit_release(e);
	return size;
}

static uint32_t random_extent(uint64_t *seed)
{
	const uint32_t extents[] = {a64_emit.small_size, EMIT_EXTENT, UINT32_MAX};
	return extents[random_u64(seed) % ARRAY_SIZE(extents)];
}

/* One instruction to be tried: where it is, where it may go to or what it reads. */
struct trial {
	uint32_t word;
	uint64_t pc, other;
	uint64_t pool;
};

static void put_original(const struct trial *t, uint64_t *seed)
{
	uint64_t data[] = {random_u64(seed), random_u64(seed)};
	uint8_t bytes[4];
	struct insn in;

	decode_at(t->word, t->pc, bytes, &in);
	put_u32(t->pc, t->word);
	put_exit(t->pc + 4, 0);
	if (in.kind == INSN_PLAIN)
		put(t->other, data, sizeof(data));
	else
		put_exit(t->other, 1);
}

static void put_moved(const struct trial *t, uint64_t *seed)
{
	struct emit e;
	emit_init(&e, &arch_a64, t->pool);
	e.extent = random_extent(seed);
	uint32_t taken = emit_label(&e);
	bool by_label = random_u64(seed) & 1;
	transfer(&e, t->word, t->pc, by_label ? at_label(taken) : at_pc(t->other));
	a64_emit.go(&e, at_pc(t->pc + 4));
	emit_place(&e, taken);
	a64_emit.go(&e, at_pc(t->other));
	finish(&e);
}

/* Runs both from the same registers; `to` is a register that has to hold the target, or 31. */
static void try_both(const struct trial *t, unsigned to, uint64_t *seed, uint64_t exits[2])
{
	struct machine before, original, moved;
	randomise(&before, seed);
	if (to < 31)
		before.x[to] = t->other;
	original = moved = before;
	put_original(t, seed);
	put_moved(t, seed);
	run(&original, t->pc);
	run(&moved, t->pool);
	if (memcmp(&original, &moved, sizeof(moved)))
		fail_msg("%08x at %#lx does something else at %#lx", t->word, t->pc, t->pool);
	assert_true(original.exit < 2);
	exits[original.exit]++;
}

enum form { FORM_ADR, FORM_ADRP, FORM_26, FORM_19, FORM_14, FORM_REG };

static const struct {
	uint32_t word;    /* without registers and distance */
	uint8_t form;     /* enum form */
	uint8_t any_low;  /* as many of the lowest bits may be anything */
	uint8_t any_bits; /* tbz: the bit's number may be anything */
	uint8_t exits;    /* bits: which exits must be seen */
} forms[] = {
	{0x10000000, FORM_ADR, 5, 0, 1}, {0x90000000, FORM_ADRP, 5, 0, 1},
	{0x18000000, FORM_19, 5, 0, 1},  {0x58000000, FORM_19, 5, 0, 1},
	{0x98000000, FORM_19, 5, 0, 1},  {0xd8000000, FORM_19, 5, 0, 1},
	{0x1c000000, FORM_19, 5, 0, 1},  {0x5c000000, FORM_19, 5, 0, 1},
	{0x9c000000, FORM_19, 5, 0, 1},  {0x54000000, FORM_19, 4, 0, 3}, /* b.cond */
	{0x34000000, FORM_19, 5, 0, 3},  {0x35000000, FORM_19, 5, 0, 3},
	{0xb4000000, FORM_19, 5, 0, 3},  {0xb5000000, FORM_19, 5, 0, 3},
	{0x36000000, FORM_14, 5, 1, 3},  {0x37000000, FORM_14, 5, 1, 3},
	{0x94000000, FORM_26, 0, 0, 2},  {0xd61f0000, FORM_REG, 0, 0, 2}, /* br */
	{0xd63f0000, FORM_REG, 0, 0, 2}, {0xd65f0000, FORM_REG, 0, 0, 2}, /* blr, ret */
};

static void set_distance(struct trial *t, uint8_t form, uint64_t *seed)
{
	static const uint32_t reach[] = {
		[FORM_ADR] = 1 << 20, [FORM_ADRP] = 1 << 20, [FORM_26] = TARGET_FAR,
		[FORM_19] = 1 << 20,  [FORM_14] = 1 << 15,   [FORM_REG] = TARGET_FAR};
	static const uint8_t kind[] = {[FORM_26] = A64_DISTANCE_26,
				       [FORM_19] = A64_DISTANCE_19,
				       [FORM_14] = A64_DISTANCE_14};
	uint64_t distance = (64 + random_u64(seed) % (reach[form] - 128)) & ~UINT64_C(3);
	t->other = random_u64(seed) & 1 ? t->pc + distance : t->pc - distance;
	if (form == FORM_ADR || form == FORM_ADRP)
		t->word |= (uint32_t)random_u64(seed) & 0x60ffffe0;
	else if (form != FORM_REG)
		assert_true(a64_set_distance(&t->word, kind[form], t->pc, t->other));
}

/* Random registers, place, distance and pool, near or far. */
static unsigned make_trial(struct trial *t, size_t form, uint64_t *seed)
{
	unsigned to = 31;
	uint64_t near = (UINT64_C(2) << 20) + random_u64(seed) % (64 << 10);
	uint64_t far = (UINT64_C(2) << 20) + random_u64(seed) % POOL_FAR;
	uint64_t away = (random_u64(seed) & 1 ? near : far) & ~UINT64_C(3);

	t->word = forms[form].word;
	t->word |= (uint32_t)random_u64(seed) & ((1u << forms[form].any_low) - 1);
	if (t->word >> 24 == 0x54 && (t->word & 14) == 14) /* always */
		t->word &= ~UINT32_C(8);
	if (forms[form].any_bits)
		t->word |= (uint32_t)random_u64(seed) & 0x80f80000;
	t->pc = executable + WINDOW + (random_u64(seed) % (1 << 20) & ~UINT64_C(3));
	t->pool = random_u64(seed) & 1 ? t->pc + away : t->pc - away;
	if (forms[form].form == FORM_19 && random_u64(seed) % 4 == 0)
		t->pool = t->pc + 512; /* so near that literals are reached directly */
	set_distance(t, forms[form].form, seed);
	if (forms[form].form == FORM_REG) {
		bool calls = (t->word & 1 << 21) != 0;
		to = (unsigned)(random_u64(seed) % (calls ? 30 : 31));
		t->word |= to << 5;
	}
	return to;
}

static bool overlaps(const struct trial *t)
{
	uint64_t distance = t->other > t->pool ? t->other - t->pool : t->pool - t->other;
	return distance < 128;
}

static void test_moved_does_the_same(void **state)
{
	uint64_t seed = 7;
	(void)state;
	for (size_t form = 0; form < ARRAY_SIZE(forms); form++) {
		uint64_t exits[2] = {0};
		for (int i = 0; i < 300; i++) {
			struct trial t;
			unsigned to = make_trial(&t, form, &seed);
			if (!overlaps(&t))
				try_both(&t, to, &seed, exits);
		}
		assert_int_equal((exits[0] ? 1 : 0) | (exits[1] ? 2 : 0), forms[form].exits);
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
	uint64_t own = address(__builtin_thread_pointer());
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
	uint64_t own = address(__builtin_thread_pointer()), random = random_u64(seed);
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
	struct counting c = make_counting();
	uint64_t seed = 9;
	(void)state;
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

/* Numbers that tests of them tell apart: small, zero, negative. */
static uint64_t random_number(void)
{
	uint64_t r = next_random();
	return r % 3 == 0 ? 0 : r % 3 == 1 ? r : r >> 60;
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
	uint64_t own = address(__builtin_thread_pointer()), random = next_random(), seed = random;
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
		before.x[m.held[i]] = m.pinned == EMIT_HELD + m.held[i] ? o->area : random_number();
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
	struct operating o = make_operating();
	(void)state;
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

#else

static int make_world(void **state)
{
	(void)state;
	return 0;
}

static int drop_world(void **state)
{
	(void)state;
	return 0;
}

static void test_moved_does_the_same(void **state)
{
	(void)state;
	print_message("A64 code is executed on aarch64 only\n");
	skip();
}

static void test_counter(void **state)
{
	test_moved_does_the_same(state);
}

static void test_routine(void **state)
{
	test_moved_does_the_same(state);
}

static void test_operations(void **state)
{
	test_moved_does_the_same(state);
}

static void test_poisoned_flags(void **state)
{
	test_moved_does_the_same(state);
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_move_text),
		cmocka_unit_test(test_far_branches),
		cmocka_unit_test(test_authenticated_calls),
		cmocka_unit_test(test_impossible),
		cmocka_unit_test(test_plain_is_copied),
		cmocka_unit_test(test_set_register),
		cmocka_unit_test(test_jump),
		cmocka_unit_test(test_label_reach),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_match),
		cmocka_unit_test(test_literals),
		cmocka_unit_test(test_counter_text),
		cmocka_unit_test(test_counter_without_registers),
		cmocka_unit_test(test_operations_text),
		cmocka_unit_test(test_sign_text),
		cmocka_unit_test(test_vector_text),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_bad_operations),
		cmocka_unit_test(test_routine_text),
		cmocka_unit_test(test_bad_counters),
		cmocka_unit_test(test_moved_does_the_same),
		cmocka_unit_test(test_counter),
		cmocka_unit_test(test_operations),
		cmocka_unit_test(test_routine),
		cmocka_unit_test(test_poisoned_flags),
	};
	return cmocka_run_group_tests(tests, make_world, drop_world);
}
