/* Writing x86-64 code: as text on any machine; on an x86-64 also by executing it. An instruction is
 * run at its own place and moved, from the same random registers, and must leave the same. Probes
 * must leave everything but what was free. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "isa/text.h"
#include "made_ops.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };

#define B(r) (UINT64_C(1) << (r))

/* Where the instructions of the text tests stand, and where they are moved. */
#define PC   UINT64_C(0x401000)
#define BASE UINT64_C(0x500000)

static size_t parse_hex(const char *hex, uint8_t *out)
{
	size_t n = 0;
	char *end;
	for (const char *s = hex; *s; s = end)
		out[n++] = (uint8_t)strtoul(s, &end, 16);
	return n;
}

static struct insn decode(const uint8_t *bytes, size_t n, uint64_t pc)
{
	struct insn in;
	if (arch_x64.decode(bytes, n, pc, DECODE_FULL, &in) != n)
		fail_msg("not an instruction of %zu bytes: %02x ...", n, bytes[0]);
	return in;
}

/* Instructions apart by semicolons. */
static void print(const struct emit *e, uint32_t size, struct text *out)
{
	struct insn_printer *p = insn_printer_new(&arch_x64);
	for (uint32_t at = 0; at < size;) {
		struct insn in;
		size_t n = arch_x64.decode(e->bytes.data + at, size - at, e->base + at, DECODE_FLOW,
					   &in);
		if (!n)
			fail_msg("no instruction %u bytes into the code", at);
		if (at)
			text_add(out, "; ");
		if (in.kind == INSN_JUMP_INDIRECT &&
		    e->bytes.data[at] == 0x3e) /* which Capstone does not print */
			text_add(out, "notrack ");
		insn_print(p, e->bytes.data + at, n, e->base + at, out);
		at += (uint32_t)n;
	}
	insn_printer_free(p);
}

static void expect_code(struct emit *e, const char *what, const char *expected)
{
	uint32_t size = e->bytes.len;
	struct text out = TEXT_INIT;
	if (!emit_finish(e))
		fail_msg("%s: failed", what);
	print(e, size, &out);
	if (strcmp(out.data, expected) != 0)
		fail_msg("%s:\n%s\nnot\n%s", what, out.data, expected);
	text_release(&out);
	emit_release(e);
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
	struct emit_way ways[4];
	struct emit e;
	bool can = arch_x64.emit->can_match(&in, bytes, &unused);
	assert_int_equal(can, expected != NULL);
	if (!can)
		return;
	for (uint32_t i = 0; i < count; i++)
		ways[i] = (struct emit_way){PC + 0x40 * i, {LABEL_NONE, PC + i}};
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
	expect_operations(sums, 5, 5, more,
			  "leaq (%rax, %rcx, 8), %rax; subq %rcx, %rax; notq %rax; "
			  "leaq (%rax, %rcx, 8), %rax; notq %rax; movq %r11, %rax; notq %rax; "
			  "leaq 1(%rcx, %rax), %rax; movzwq %ax, %rax");
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
	struct emit_probe p = {.ops = &bad, .op_count = 1};
	struct emit e;
	(void)state;
	expect_operations(ops, 6, 6, B(RAX),
			  "pxor %xmm15, %xmm15; paddq 0x22(%rip), %xmm15; movd %xmm9, %rax; "
			  "movd %xmm1, %r12; movd %r12, %xmm8; movd %xmm2, %rax");
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

/* What is loaded before execution and stored after it. */
struct world {
	uint64_t reg[16];
	uint64_t flags;
	uint64_t target, host_sp, pad;
	uint64_t xmm[16][2];
};

struct world world;
/* Loads all registers and jumps to world.target; whoever jumps to run_leave stores them and
 * returns. */
void run_enter(void);
void run_leave(void);

#if defined(__x86_64__)
__asm__(".text\n"
	".macro each_register do\n"
	"\\do world(%rip), %rax\n"
	"\\do world+8(%rip), %rcx\n"
	"\\do world+16(%rip), %rdx\n"
	"\\do world+24(%rip), %rbx\n"
	"\\do world+40(%rip), %rbp\n"
	"\\do world+48(%rip), %rsi\n"
	"\\do world+56(%rip), %rdi\n"
	".irp n,8,9,10,11,12,13,14,15\n"
	"\\do world+8*\\n(%rip), %r\\n\n"
	".endr\n"
	".endm\n"
	".macro get from, to\n"
	"	mov \\from, \\to\n"
	".endm\n"
	".macro put to, from\n"
	"	mov \\from, \\to\n"
	".endm\n"
	".globl run_enter\n"
	".type run_enter, @function\n"
	"run_enter:\n"
	".irp r,rbx,rbp,r12,r13,r14,r15\n"
	"	push %\\r\n"
	".endr\n"
	"	mov %rsp, world+144(%rip)\n"
	".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	"	movups world+160+16*\\n(%rip), %xmm\\n\n"
	".endr\n"
	"	pushq world+128(%rip)\n"
	"	popfq\n"
	"	each_register get\n"
	"	mov world+32(%rip), %rsp\n"
	"	jmp *world+136(%rip)\n"
	".size run_enter, . - run_enter\n"
	".globl run_leave\n"
	".type run_leave, @function\n"
	"run_leave:\n"
	"	each_register put\n"
	"	mov %rsp, world+32(%rip)\n"
	"	mov world+144(%rip), %rsp\n"
	"	pushfq\n"
	"	popq world+128(%rip)\n"
	"	cld\n"
	".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	"	movups %xmm\\n, world+160+16*\\n(%rip)\n"
	".endr\n"
	".irp r,r15,r14,r13,r12,rbp,rbx\n"
	"	pop %\\r\n"
	".endr\n"
	"	ret\n"
	".size run_leave, . - run_leave\n");

static bool has_avx(void)
{
	return __builtin_cpu_supports("avx");
}
#else
void run_enter(void)
{
	abort();
}

void run_leave(void)
{
	abort();
}

static bool has_avx(void)
{
	return false;
}
#endif

/* Offsets in one block of memory. */
enum {
	ORIGINAL = 0x1000, /* the instruction; behind it, and at TAKEN, ways out */
	TAKEN = ORIGINAL + 64,
	MOVED = 0x40000,
	WAYS = 0x50000,
	FIND = 0x60000,
	ROUTINE = 0x61000,
	DATA = 0x80000,
	EXIT = DATA + 0x1000, /* which way out was taken, and the address of run_leave */
	SEEN = EXIT + 16,     /* what the routine saw */
	STACK = 0x98000,
	TABLE = 0xb0000,
	AREA = 0xc0000,
	OTHER_AREA = 0xd0000,
	MEMORY_SIZE = 0x100000,
};

enum { DATA_WORDS = 16, STACK_WORDS = 64, TABLE_BITS = 12 };
enum { FLAGS_COMPARED = 0xcd5, CARRY = 1, ZERO = 0x40 };

static uint8_t *memory;
static uint64_t seed;

static uint64_t at(uint32_t offset)
{
	return (uint64_t)(uintptr_t)(memory + offset);
}

static void put32(uint8_t *out, uint64_t value)
{
	memcpy(out, &(uint32_t){(uint32_t)value}, 4);
}

static uint64_t *words_at(uint32_t offset)
{
	return (uint64_t *)(void *)(memory + offset);
}

static uint64_t random_word(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * UINT64_C(0x2545f4914f6cdd1d);
}

static int map_memory(void **state)
{
	(void)state;
	if (arch_native() != &arch_x64)
		return 0;
	void *p = mmap(NULL, MEMORY_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memory = p == MAP_FAILED ? NULL : p;
	seed = 88172645463325252;
	return 0;
}

static void need_execution(void)
{
	if (arch_native() != &arch_x64) {
		print_message("# only an x86-64 executes its code\n");
		skip();
	}
	if (!memory) {
		print_message("# no memory may be written and executed here\n");
		skip();
	}
}

/* movl $number, EXIT(%rip); jmp *EXIT+8(%rip) */
static void put_way_out(uint32_t offset, uint32_t number)
{
	uint8_t *p = memory + offset;
	memcpy(p, "\xc7\x05", 2);
	put32(p + 2, at(EXIT) - at(offset + 10));
	put32(p + 6, number);
	memcpy(p + 10, "\xff\x25", 2);
	put32(p + 12, at(EXIT + 8) - at(offset + 16));
	*words_at(EXIT + 8) = (uint64_t)(uintptr_t)run_leave;
}

enum { FELL_THROUGH = 1, WAS_TAKEN = 2 };

struct outcome {
	struct world world;
	uint64_t exit;
	uint64_t data[DATA_WORDS];
	uint64_t stack[STACK_WORDS]; /* half of it above the stack pointer at the start */
};

/* Registers that rows use as addresses point to memory that holds addresses. */
static struct outcome random_start(void)
{
	struct outcome s;
	uint64_t counts[] = {0, 1, 2, UINT64_C(1) << 32, random_word()};
	for (unsigned i = 0; i < 16; i++) {
		s.world.reg[i] = random_word();
		s.world.xmm[i][0] = random_word();
		s.world.xmm[i][1] = random_word();
	}
	s.world.flags = (random_word() & FLAGS_COMPARED) | 2;
	s.world.reg[RCX] = counts[random_word() % ARRAY_SIZE(counts)];
	s.world.reg[RSP] = at(STACK);
	s.world.reg[RBX] = s.world.reg[R12] = s.world.reg[R13] = at(DATA);
	s.world.reg[RBP] = at(DATA + 8);
	s.world.reg[R14] = at(TAKEN);
	s.world.reg[R15] = 8;
	for (unsigned i = 0; i < DATA_WORDS; i++)
		s.data[i] = i < 2 ? at(TAKEN) : random_word();
	for (unsigned i = 0; i < STACK_WORDS; i++)
		s.stack[i] = i >= STACK_WORDS / 2 - 2 && i < STACK_WORDS / 2 + 4 ? at(TAKEN)
										 : random_word();
	s.exit = 0;
	return s;
}

static uint64_t *stack_words(void)
{
	return words_at(STACK) - STACK_WORDS / 2;
}

static struct outcome run(const struct outcome *start, uint32_t offset)
{
	world = start->world;
	world.target = at(offset);
	memcpy(memory + DATA, start->data, sizeof(start->data));
	memcpy(stack_words(), start->stack, sizeof(start->stack));
	*words_at(EXIT) = start->exit;
	run_enter();
	struct outcome o = {.world = world, .exit = *words_at(EXIT)};
	memcpy(o.data, memory + DATA, sizeof(o.data));
	memcpy(o.stack, stack_words(), sizeof(o.stack));
	return o;
}

/* The stack is compared from its word `from` on. */
static void expect_same(const char *what, const struct outcome *x, const struct outcome *y,
			unsigned from)
{
	for (unsigned i = 0; i < 16; i++)
		if (x->world.reg[i] != y->world.reg[i])
			fail_msg("%s: %s is %#llx, not %#llx", what, arch_x64.reg_name(i),
				 (unsigned long long)y->world.reg[i],
				 (unsigned long long)x->world.reg[i]);
	if ((x->world.flags ^ y->world.flags) & FLAGS_COMPARED)
		fail_msg("%s: flags are %#llx, not %#llx", what, (unsigned long long)y->world.flags,
			 (unsigned long long)x->world.flags);
	if (memcmp(x->world.xmm, y->world.xmm, sizeof(x->world.xmm)) != 0)
		fail_msg("%s: vector registers differ", what);
	if (x->exit != y->exit)
		fail_msg("%s: way %d, not %d", what, (int)y->exit, (int)x->exit);
	if (memcmp(x->data, y->data, sizeof(x->data)) != 0)
		fail_msg("%s: data differ", what);
	for (unsigned i = from; i < STACK_WORDS; i++)
		if (x->stack[i] != y->stack[i])
			fail_msg("%s: stack word %d differs", what, (int)i - STACK_WORDS / 2);
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

/* Returns its size. */
static uint32_t install(struct emit *e, const char *what)
{
	if (!emit_finish(e))
		fail_msg("%s: failed", what);
	uint32_t size = e->bytes.len;
	memcpy(memory + MOVED, e->bytes.data, size);
	emit_release(e);
	return size;
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
	struct emit_way ways[WAYS_MAX];
	struct emit e;
	for (uint32_t i = 0; i < count; i++) {
		put_way_out(WAYS + 16 * i, WAY + i);
		uint64_t pc = at(TAKEN) + 8 * ((uint64_t)i - taken) + (between ? 4 : 0);
		ways[i] = (struct emit_way){pc, {LABEL_NONE, at(WAYS + 16 * i)}};
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
		if (poisoned && unused->vec >> i & 1) {
			assert_true(y->world.xmm[i][0] == UINT64_MAX);
			assert_true(y->world.xmm[i][1] == UINT64_MAX);
			memcpy(x->world.xmm[i], y->world.xmm[i], sizeof(x->world.xmm[i]));
		}
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
	need_execution();
	uint64_t thread = thread_pointer();
	if (!thread) {
		print_message("# rdfsbase is not permitted here\n");
		skip();
	}
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

/* Numbers that tests of them tell apart: small, zero, negative. */
static uint64_t random_number(void)
{
	uint64_t r = random_word();
	return r % 3 == 0 ? 0 : r % 3 == 1 ? r : r >> 60;
}

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
		start.world.reg[reg] = m.pinned == EMIT_HELD + reg ? m.area : random_number();
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
	need_execution();
	uint64_t thread = thread_pointer();
	if (!thread) {
		print_message("# rdfsbase is not permitted here\n");
		skip();
	}
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
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_jumps),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_probe_text),
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_counter),
		cmocka_unit_test(test_routine),
		cmocka_unit_test(test_match),
		cmocka_unit_test(test_matched),
		cmocka_unit_test(test_operations_text),
		cmocka_unit_test(test_vector_text),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_operations),
	};
	return cmocka_run_group_tests(tests, map_memory, NULL);
}
