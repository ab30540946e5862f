/* Moving A64 instructions, and what moved code is put together with: jumps, labels, literals.
 *
 * On any host the text of what is written is compared. On aarch64 it is also executed: an
 * instruction at its own place and its moved form elsewhere, from the same random registers, must
 * leave the same registers and go to the same place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "a64_bench.h"
#include "base/vec.h"
#include "isa/a64/words.h"
#include "isa/arch.h"

#define FROM UINT64_C(0x44000000) /* of the instructions moved to PLACE */

static void decode_at(uint32_t word, uint64_t pc, uint8_t *bytes, struct insn *in)
{
	for (unsigned i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(word >> 8 * i);
	if (arch_a64.decode(bytes, 4, pc, DECODE_FULL, in) != 4)
		fail_msg("%08x is no instruction", word);
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
	struct dispatch_target way = {PLACE + 0x100, at_pc(PLACE)};
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
	};
	const struct CMUnitTest executed[] = {
		cmocka_unit_test(test_moved_does_the_same),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	return arch_native() == &arch_a64
		       ? failed + cmocka_run_group_tests(executed, make_world, drop_world)
		       : failed;
}
