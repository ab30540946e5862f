/* Moving x86-64 instructions, and telling jumps apart by where they go: as text on any machine; on
 * an x86-64 also by executing it. An instruction is run at its own place and moved, from the same
 * random registers, and must leave the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "isa/arch.h"
#include "parse_hex.h"
#include "x64_bench.h"

#define PC UINT64_C(0x401000) /* of the instructions moved to BASE */

static struct insn decode(const uint8_t *bytes, size_t n, uint64_t pc)
{
	struct insn in;
	if (arch_x64.decode(bytes, n, pc, DECODE_FULL, &in) != n)
		fail_msg("not an instruction of %zu bytes: %02x ...", n, bytes[0]);
	return in;
}

/* By what kind of instruction it is; what is conditional goes to `taken`. */
static void append(struct emit *e, const uint8_t *bytes, size_t n, uint64_t pc,
		   struct emit_target taken)
{
	const struct emit_ops *ops = arch_x64.emit;
	struct insn in = decode(bytes, n, pc);
	switch (in.kind) {
	case INSN_JUMP: ops->go(e, taken); break;
	case INSN_BRANCH: ops->branch(e, &in, bytes, taken); break;
	case INSN_CALL:
	case INSN_CALL_INDIRECT: ops->call(e, &in, bytes, pc + n); break;
	default: ops->move(e, &in, bytes); break;
	}
}

struct text_row {
	const char *hex, *text;
};

static const struct text_row text_rows[] = {
	{"48 8d 05 10 00 00 00", "leaq -0xfeff0(%rip), %rax"},
	{"c7 05 10 00 00 00 01 02 03 04", "movl $0x4030201, -0xfeff0(%rip)"},
	{"c4 e3 79 0f 05 10 00 00 00 05", "vpalignr $5, -0xfeff0(%rip), %xmm0, %xmm0"},
	{"62 f1 7c 48 10 05 10 00 00 00", "vmovups -0xfeff0(%rip), %zmm0"},
	{"67 48 8b 05 10 00 00 00", "movq -0xfeff0(%eip), %rax"},
	{"ff 25 10 00 00 00", "jmpq *-0xfeff0(%rip)"},
	{"0f 1f 05 10 00 00 00", "nopl 0x10(%rip)"},
	{"3e ff e2", "notrack jmpq *%rdx"},
	{"0f 05", "syscall"},
	{"f3 0f 1e fa", "endbr64"},
	{"48 a1 10 00 00 00 00 00 00 00", "movabsq 0x10, %rax"},
	/* branches: to 0x600000 */
	{"74 10", "je 0x600000"},
	{"0f 8f 10 00 00 00", "jg 0x600000"},
	{"e3 10", "jrcxz 0x500004; jmp 0x500009; jmp 0x600000"},
	{"67 e3 10", "jecxz 0x500005; jmp 0x50000a; jmp 0x600000"},
	{"e1 10", "loope 0x500004; jmp 0x500009; jmp 0x600000"},
	{"67 e0 10", "loopne 0x500005; jmp 0x50000a; jmp 0x600000"},
	{"c7 f8 10 00 00 00", "xbegin 0x600000"},
	{"eb 10", "jmp 0x600000"},
	/* calls */
	{"e8 fb 0f 00 00", "pushq 9(%rip); jmp 0x402000"},
	{"41 ff d4", "pushq 9(%rip); jmpq *%r12"},
	{"3e ff d0", "pushq 9(%rip); notrack jmpq *%rax"},
	{"66 48 ff 15 10 00 00 00", "leaq -8(%rsp), %rsp; pushq -0xfeff4(%rip); pushq 0x1d(%rip); "
				    "popq 8(%rsp); leaq 8(%rsp), %rsp; jmpq *-8(%rsp)"},
	{"3e ff 54 24 f8", "leaq -8(%rsp), %rsp; pushq %ds:(%rsp); pushq 0x1c(%rip); "
			   "popq 8(%rsp); leaq 8(%rsp), %rsp; notrack jmpq *%ds:-8(%rsp)"},
};

static void test_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(text_rows); i++) {
		uint8_t bytes[16];
		size_t n = parse_hex(text_rows[i].hex, bytes);
		struct emit e;
		emit_init(&e, &arch_x64, BASE);
		append(&e, bytes, n, PC, (struct emit_target){LABEL_NONE, 0x600000});
		expect_code(&e, text_rows[i].hex, text_rows[i].text);
	}
}

static void test_refused(void **state)
{
	(void)state;
	static const struct {
		const char *hex;
		uint64_t base;
		bool moved; /* not appended by its kind */
	} rows[] = {
		{"48 8d 05 10 00 00 00", PC + (UINT64_C(1) << 31) + 17, false},
		{"48 8d 05 10 00 00 00", PC - (UINT64_C(1) << 31) + 16, false},
		{"eb 10", BASE, true},
		{"74 10", BASE, true},
		{"e8 10 00 00 00", BASE, true},
		{"ff d0", BASE, true},
		{"ff d4", BASE, false},                /* call *%rsp */
		{"ff 1d 10 00 00 00", BASE, false},    /* far call */
		{"66 c7 f8 10 00", BASE, false},       /* xbegin in 16 bits */
		{"ff 94 24 f8 ff ff 7f", BASE, false}, /* call *0x7ffffff8(%rsp) */
		{"0f 84 10 00 00 00", PC + (UINT64_C(5) << 31), false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint8_t bytes[16];
		size_t n = parse_hex(rows[i].hex, bytes);
		struct emit e;
		emit_init(&e, &arch_x64, rows[i].base);
		struct insn in = decode(bytes, n, PC);
		if (rows[i].moved)
			arch_x64.emit->move(&e, &in, bytes);
		else
			append(&e, bytes, n, PC, (struct emit_target){LABEL_NONE, PC});
		if (emit_finish(&e))
			fail_msg("%s: not refused", rows[i].hex);
		emit_release(&e);
	}
	/* One byte less, and it reaches. */
	uint8_t lea[16];
	size_t n = parse_hex("48 8d 05 10 00 00 00", lea);
	struct emit e;
	emit_init(&e, &arch_x64, PC + (UINT64_C(1) << 31) + 16);
	append(&e, lea, n, PC, (struct emit_target){LABEL_NONE, PC});
	expect_code(&e, "lea", "leaq -0x80000000(%rip), %rax");
}

static void test_jumps(void **state)
{
	(void)state;
	const struct emit_ops *ops = arch_x64.emit;
	uint8_t out[8];
	const uint64_t reach = ops->jump_reach, from = UINT64_C(1) << 40;
	assert_int_equal(ops->jump(out, 0x1000, 0x1234), 5);
	assert_memory_equal(out, "\xe9\x2f\x02\x00\x00", 5);
	assert_int_equal(ops->jump(out, from, from + reach), 5);
	assert_int_equal(ops->jump(out, from, from - reach), 5);
	assert_int_equal(ops->jump(out, from, from - reach - 1), 0);
	assert_int_equal(ops->jump(out, from, from + reach + 10), 0);
	assert_int_equal(ops->short_jump(out, from, from - ops->short_reach), 2);
	assert_memory_equal(out, "\xeb\x80", 2);
	assert_int_equal(ops->short_jump(out, from, from + ops->short_reach), 2);
	assert_int_equal(ops->short_jump(out, from, from - ops->short_reach - 1), 0);
	assert_int_equal(ops->short_jump(out, from, from + 130), 0);
	assert_int_equal(ops->trap_size, 1);
	assert_int_equal(ops->trap[0], 0xcc);
}

static void test_labels(void **state)
{
	(void)state;
	const struct emit_ops *ops = arch_x64.emit;
	struct emit e;
	emit_init(&e, &arch_x64, BASE);
	struct emit_target ahead = {.label = emit_label(&e)}, behind = {.label = emit_label(&e)};
	emit_place(&e, behind.label);
	append(&e, (const uint8_t[]){0x75, 0x10}, 2, PC, ahead);
	ops->go(&e, behind);
	emit_place(&e, ahead.label);
	ops->go(&e, (struct emit_target){LABEL_NONE, BASE + (UINT64_C(1) << 40)});
	uint32_t size = e.bytes.len;
	expect_code(&e, "labels", "jne 0x50000b; jmp 0x500000; notrack jmpq *%ds:0xd(%rip)");
	assert_int_equal(size, 19);
}

static void expect_match(const char *hex, struct regset unused, uint32_t count,
			 const char *expected)
{
	uint8_t bytes[16];
	size_t n = parse_hex(hex, bytes);
	struct insn in = decode(bytes, n, PC);
	struct dispatch_target ways[4];
	struct emit e;
	bool can = arch_x64.emit->can_match(&in, bytes, &unused);
	assert_int_equal(can, expected != NULL);
	if (!can)
		return;
	for (uint32_t i = 0; i < count; i++)
		ways[i] = (struct dispatch_target){PC + 0x40 * i, {LABEL_NONE, PC + i}};
	emit_init(&e, &arch_x64, BASE);
	arch_x64.emit->match(&e, &in, bytes, &unused, ways, count);
	expect_code(&e, hex, expected);
}

static void test_match(void **state)
{
	(void)state;
	struct regset unused = {.core = B(RAX) | B(R9) | B(REG_FLAGS)}, none = {0};
	expect_match("3e ff e1", unused, 1, "cmpq 9(%rip), %rcx; je 0x401000");
	expect_match("41 ff e3", unused, 1, "cmpq 9(%rip), %r11; je 0x401000");
	expect_match("ff e1", unused, 3,
		     "cmpq 0x39(%rip), %rcx; je 0x401001; jb 0x500025; "
		     "cmpq 0x36(%rip), %rcx; je 0x401002; jmp 0x500032; "
		     "cmpq 0x34(%rip), %rcx; je 0x401000");
	expect_match("42 ff 64 e0 10", unused, 1,
		     "movq 0x10(%rax, %r12, 8), %r9; cmpq 0x14(%rip), %r9; je 0x401000");
	expect_match("ff 60 08", (struct regset){.core = B(RAX) | B(REG_FLAGS)}, 1,
		     "leaq -0x80(%rsp), %rsp; pushq %rcx; movq 8(%rax), %rcx; "
		     "cmpq 0x2f(%rip), %rcx; je 0x500025; popq %rcx; leaq 0x80(%rsp), %rsp; "
		     "jmp 0x500033; popq %rcx; leaq 0x80(%rsp), %rsp; jmp 0x401000");
	expect_match("ff e1", none, 1,
		     "leaq -0x80(%rsp), %rsp; pushfq; cmpq 0x23(%rip), %rcx; je 0x500021; popfq; "
		     "leaq 0x80(%rsp), %rsp; jmp 0x50002f; popfq; leaq 0x80(%rsp), %rsp; "
		     "jmp 0x401000");
	expect_match("ff 24 24", unused, 1,
		     "movq (%rsp), %rax; cmpq 0x15(%rip), %rax; je 0x401000");
	expect_match("ff 24 24", (struct regset){.core = B(RAX)}, 1, NULL);
	expect_match("ff 24 24", (struct regset){.core = B(REG_FLAGS)}, 1, NULL);
	expect_match("ff 25 10 00 00 00", unused, 1, NULL);
}

/* Hexadecimal bytes, and displacements to DATA (data: 32 bits) and TAKEN (near: 8, far: 32). */
static size_t parse_template(const char *template, uint8_t *out)
{
	size_t n = 0, place = 0, size = 0;
	uint64_t target = 0;
	char copy[64], *rest = NULL;
	snprintf(copy, sizeof(copy), "%s", template);
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		if (strlen(word) == 2) {
			out[n++] = (uint8_t)strtoul(word, NULL, 16);
			continue;
		}
		place = n;
		size = strcmp(word, "near") == 0 ? 1 : 4;
		target = strcmp(word, "data") == 0 ? at(DATA) : at(TAKEN);
		n += size;
	}
	if (size == 1)
		out[place] = (uint8_t)(target - at(ORIGINAL) - n);
	else if (size)
		put32(out + place, target - at(ORIGINAL) - n);
	return n;
}

static const char *const run_rows[] = {
	/* relative to rip */
	"48 8d 05 data",
	"4c 8d 3d data",
	"8d 05 data",
	"48 8b 05 data",
	"48 89 15 data",
	"c7 05 data 01 02 03 04",
	"c6 05 data 7f",
	"66 81 05 data 34 12",
	"48 81 05 data 78 56 34 12",
	"80 3d data 05",
	"48 69 05 data 78 56 34 12",
	"f0 48 ff 05 data",
	"48 0f ba 25 data 07",
	"0f b6 05 data",
	"48 0f af 05 data",
	"48 87 05 data",
	"f3 0f 10 05 data",
	"66 0f 6f 0d data",
	"66 0f 70 0d data 1b",
	"66 0f 3a 0f 05 data 05",
	"66 44 0f 6f 3d data",
	"ff 35 data",
	"8f 05 data",
	"48 c1 05 data 03",
	"f6 05 data 80",
	/* nothing to change */
	"48 01 d8",
	"48 83 ec 18",
	"9c",
	"48 8b 44 24 08",
	"48 89 44 24 c8",
	"90",
	"f3 0f 1e fa",
	/* jumps */
	"ff 25 data",
	"41 ff e6",
	"3e 41 ff e6",
	"ff 63 08",
	"ff 24 24",
	"42 ff 24 3b",
	"c3",
	"c2 08 00",
	"f3 c3",
	"eb near",
	"e9 far",
	"70 near",
	"71 near",
	"72 near",
	"73 near",
	"74 near",
	"75 near",
	"76 near",
	"77 near",
	"78 near",
	"79 near",
	"7a near",
	"7b near",
	"7c near",
	"7d near",
	"7e near",
	"7f near",
	"2e 74 near",
	"0f 80 far",
	"0f 85 far",
	"0f 87 far",
	"0f 8f far",
	"e0 near",
	"e1 near",
	"e2 near",
	"e3 near",
	"67 e0 near",
	"67 e1 near",
	"67 e2 near",
	"67 e3 near",
	/* calls */
	"e8 far",
	"66 66 48 e8 far",
	"41 ff d6",
	"3e 41 ff d6",
	"ff 15 data",
	"66 48 ff 15 data",
	"ff 13",
	"3e ff 13",
	"41 ff 14 24",
	"41 ff 55 00",
	"ff 55 f8",
	"42 ff 14 3b",
	"ff 14 24",
	"ff 54 24 08",
	"ff 54 24 f8",
	"ff 54 24 f0",
	"ff 94 24 10 00 00 00",
	"42 ff 54 3c 08",
};

static const char *const avx_rows[] = {
	"c5 f8 10 05 data",
	"c4 e3 79 0f 05 data 05",
	"c5 fc 10 05 data",
	"c4 e2 79 18 05 data",
};

static void compare_row(const char *template)
{
	uint8_t bytes[16];
	size_t n = parse_template(template, bytes);
	memcpy(memory + ORIGINAL, bytes, n);
	put_way_out(ORIGINAL + (uint32_t)n, FELL_THROUGH);
	put_way_out(TAKEN, WAS_TAKEN);
	struct emit e;
	emit_init(&e, &arch_x64, at(MOVED));
	append(&e, bytes, n, at(ORIGINAL), (struct emit_target){LABEL_NONE, at(TAKEN)});
	arch_x64.emit->go(&e, (struct emit_target){LABEL_NONE, at(ORIGINAL) + n});
	install(&e, template);
	/* What was below the stack pointer is not expected to survive a call. */
	struct insn in = decode(bytes, n, at(ORIGINAL));
	unsigned from = in.kind == INSN_CALL_INDIRECT ? STACK_WORDS / 2 - 1 : 0;
	for (unsigned i = 0; i < 100; i++) {
		struct outcome start = random_start();
		struct outcome original = run(&start, ORIGINAL), moved = run(&start, MOVED);
		assert_true(original.exit == FELL_THROUGH || original.exit == WAS_TAKEN);
		expect_same(template, &original, &moved, from);
	}
}

static bool has_avx(void)
{
#ifdef __x86_64__
	return __builtin_cpu_supports("avx");
#else
	return false;
#endif
}

static void test_moved(void **state)
{
	(void)state;
	need_execution();
	for (size_t i = 0; i < ARRAY_SIZE(run_rows); i++)
		compare_row(run_rows[i]);
	for (size_t i = 0; i < ARRAY_SIZE(avx_rows) && has_avx(); i++)
		compare_row(avx_rows[i]);
}

enum { WAYS_MAX = 20, WAY = 100 };

/* Ways around TAKEN, which is the one with number `taken`, or between two. */
static void put_matched(const uint8_t *bytes, size_t n, const struct regset *unused, uint32_t count,
			uint32_t taken, bool between)
{
	struct insn in = decode(bytes, n, at(ORIGINAL));
	struct dispatch_target ways[WAYS_MAX];
	struct emit e;
	for (uint32_t i = 0; i < count; i++) {
		put_way_out(WAYS + 16 * i, WAY + i);
		uint64_t pc = at(TAKEN) + 8 * ((uint64_t)i - taken) + (between ? 4 : 0);
		ways[i] = (struct dispatch_target){pc, {LABEL_NONE, at(WAYS + 16 * i)}};
	}
	emit_init(&e, &arch_x64, at(MOVED));
	arch_x64.emit->match(&e, &in, bytes, unused, ways, count);
	arch_x64.emit->move(&e, &in, bytes);
	install(&e, "match");
}

/* What the code may use is not compared. */
static void expect_matched(const char *row, const struct regset *unused, uint64_t way)
{
	struct outcome start = random_start();
	struct outcome original = run(&start, ORIGINAL), matched = run(&start, MOVED);
	assert_true(original.exit == WAS_TAKEN);
	original.exit = way;
	for (unsigned i = 0; i < 16; i++)
		if (regset_has(unused, i))
			original.world.reg[i] = matched.world.reg[i];
	if (regset_has(unused, REG_FLAGS))
		original.world.flags = matched.world.flags;
	expect_same(row, &original, &matched, STACK_WORDS / 2 - 16);
}

static void compare_match(const char *row, struct regset unused)
{
	uint8_t bytes[16];
	size_t n = parse_template(row, bytes);
	memcpy(memory + ORIGINAL, bytes, n);
	put_way_out(TAKEN, WAS_TAKEN);
	struct insn in = decode(bytes, n, at(ORIGINAL));
	if (!arch_x64.emit->can_match(&in, bytes, &unused))
		return;
	for (uint32_t count = 1; count <= WAYS_MAX; count++)
		for (uint32_t taken = 0; taken < count; taken++) {
			put_matched(bytes, n, &unused, count, taken, false);
			expect_matched(row, &unused, WAY + taken);
			put_matched(bytes, n, &unused, count, taken, true);
			expect_matched(row, &unused, WAS_TAKEN);
		}
}

static void test_matched(void **state)
{
	static const char *const rows[] = {"41 ff e6", "3e 41 ff e6", "ff 63 08", "42 ff 24 3b",
					   "ff 24 24"};
	(void)state;
	need_execution();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		compare_match(rows[i], (struct regset){0});
		compare_match(rows[i], (struct regset){.core = B(REG_FLAGS)});
		compare_match(rows[i], (struct regset){.core = B(R9)});
		compare_match(rows[i], (struct regset){.core = B(R9) | B(REG_FLAGS)});
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),  cmocka_unit_test(test_refused),
		cmocka_unit_test(test_jumps), cmocka_unit_test(test_labels),
		cmocka_unit_test(test_match),
	};
	const struct CMUnitTest executed[] = {
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_matched),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	return arch_native() == &arch_x64
		       ? failed + cmocka_run_group_tests(executed, map_memory, NULL)
		       : failed;
}
