/* The x86-64 decoder: bytes in, fields out. Bytes are hexadecimal; every row stands at PC. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "isa/arch.h"
#include "isa/text.h"
#include "parse_hex.h"

enum { PC = 0x1000 };
enum {
	RAX,
	RCX,
	RDX,
	RBX,
	RSP,
	RBP,
	RSI,
	RDI,
	R8,
	R9,
	R10,
	R11,
	R12,
	R13,
	R14,
	R15,
	NONE = REG_NONE
};
enum { K1 = 34, X87 = 50, MXCSR = 51 };

#define B(r) (UINT64_C(1) << (r))
#define F    B(REG_FLAGS)

/* Decodes the row from a heap block of exactly its size, so that the sanitiser sees reads beyond,
 * or with `room` behind it, without which the decoder does not use its memory. */
static struct insn decode_with(const char *hex, enum insn_detail detail, size_t room)
{
	uint8_t bytes[32];
	size_t n = parse_hex(hex, bytes);
	uint8_t *block = xcalloc(1, n + room);
	memcpy(block, bytes, n);
	struct insn in;
	size_t length = arch_x64.decode(block, n + room, PC, detail, &in);
	free(block);
	if (length != n || in.length != n)
		fail_msg("%s: length %zu", hex, length);
	return in;
}

static struct insn decode(const char *hex, enum insn_detail detail)
{
	return decode_with(hex, detail, 0);
}

#define EXPECT(row, field)                                                                         \
	do {                                                                                       \
		if ((int64_t)in.field != (int64_t)(row)->field)                                    \
			fail_msg("%s: " #field " is %#llx, not %#llx", (row)->hex,                 \
				 (unsigned long long)in.field, (unsigned long long)(row)->field);  \
	} while (0)

struct flow_row {
	const char *hex;
	uint8_t kind, class, flags;
	uint64_t target;
};

static const struct flow_row flow_rows[] = {
	/* control */
	{"eb 10", INSN_JUMP, CLASS_BRANCH, 0, PC + 0x12},
	{"e9 fb ff ff ff", INSN_JUMP, CLASS_BRANCH, 0, PC},
	{"f2 e9 00 00 00 00", INSN_JUMP, CLASS_BRANCH, 0, PC + 6},
	{"74 fe", INSN_BRANCH, CLASS_BRANCH, 0, PC},
	{"0f 8f 00 01 00 00", INSN_BRANCH, CLASS_BRANCH, 0, PC + 0x106},
	{"3e 0f 84 00 01 00 00", INSN_BRANCH, CLASS_BRANCH, 0, PC + 0x107},
	{"e3 02", INSN_BRANCH, CLASS_BRANCH, 0, PC + 4},
	{"e2 fe", INSN_BRANCH, CLASS_BRANCH, 0, PC},
	{"c7 f8 10 00 00 00", INSN_BRANCH, CLASS_BRANCH, 0, PC + 0x16},
	{"e8 00 10 00 00", INSN_CALL, CLASS_BRANCH, 0, PC + 0x1005},
	{"66 66 48 e8 00 10 00 00", INSN_CALL, CLASS_BRANCH, 0, PC + 0x1008},
	{"ff e0", INSN_JUMP_INDIRECT, CLASS_BRANCH, 0, 0},
	{"3e ff e2", INSN_JUMP_INDIRECT, CLASS_BRANCH, 0, 0},
	{"f2 ff 25 10 00 00 00", INSN_JUMP_INDIRECT, CLASS_BRANCH, 0, 0},
	{"ff 24 c5 00 10 40 00", INSN_JUMP_INDIRECT, CLASS_BRANCH, 0, 0},
	{"41 ff d4", INSN_CALL_INDIRECT, CLASS_BRANCH, 0, 0},
	{"ff 15 10 00 00 00", INSN_CALL_INDIRECT, CLASS_BRANCH, 0, 0},
	{"c3", INSN_RETURN, CLASS_BRANCH, 0, 0},
	{"f3 c3", INSN_RETURN, CLASS_BRANCH, 0, 0},
	{"c2 08 00", INSN_RETURN, CLASS_BRANCH, 0, 0},
	{"cb", INSN_RETURN, CLASS_BRANCH, 0, 0},
	{"48 cf", INSN_RETURN, CLASS_BRANCH, 0, 0},
	{"cc", INSN_TRAP, CLASS_OTHER, 0, 0},
	{"0f 0b", INSN_TRAP, CLASS_OTHER, 0, 0},
	{"0f b9 c0", INSN_TRAP, CLASS_OTHER, 0, 0},
	{"f4", INSN_TRAP, CLASS_OTHER, 0, 0},
	{"0f 05", INSN_SYSCALL, CLASS_OTHER, 0, 0},
	{"cd 80", INSN_SYSCALL, CLASS_OTHER, 0, 0},
	{"cd 29", INSN_TRAP, CLASS_OTHER, 0, 0},
	{"0f 01 d5", INSN_PLAIN, CLASS_OTHER, 0, 0}, /* xend */
	{"c6 f8 01", INSN_PLAIN, CLASS_OTHER, 0, 0}, /* xabort */
	/* padding and landing pads */
	{"90", INSN_PLAIN, CLASS_OTHER, INSN_NOP, 0},
	{"66 90", INSN_PLAIN, CLASS_OTHER, INSN_NOP, 0},
	{"0f 1f 00", INSN_PLAIN, CLASS_OTHER, INSN_NOP, 0},
	{"66 66 2e 0f 1f 84 00 00 00 00 00", INSN_PLAIN, CLASS_OTHER, INSN_NOP, 0},
	{"48 87 c0", INSN_PLAIN, CLASS_OTHER, INSN_NOP, 0},
	{"87 c0", INSN_PLAIN, CLASS_INTEGER, 0, 0}, /* clears the upper half */
	{"41 90", INSN_PLAIN, CLASS_INTEGER, 0, 0}, /* xchg %eax,%r8d */
	{"f3 90", INSN_PLAIN, CLASS_OTHER, 0, 0},   /* pause */
	{"48 8d 76 00", INSN_PLAIN, CLASS_OTHER, INSN_NOP, 0},
	{"48 8d b4 26 00 00 00 00", INSN_PLAIN, CLASS_OTHER, INSN_NOP, 0},
	{"8d 76 00", INSN_PLAIN, CLASS_INTEGER, 0, 0},
	{"48 8d 76 01", INSN_PLAIN, CLASS_INTEGER, 0, 0},
	{"f3 0f 1e fa", INSN_PLAIN, CLASS_OTHER, INSN_LANDING, 0},
	/* the instruction mix */
	{"48 8b 07", INSN_PLAIN, CLASS_LOAD, 0, 0},
	{"48 89 07", INSN_PLAIN, CLASS_STORE, 0, 0},
	{"48 89 c7", INSN_PLAIN, CLASS_INTEGER, 0, 0},
	{"48 03 07", INSN_PLAIN, CLASS_INTEGER, 0, 0},
	{"48 01 07", INSN_PLAIN, CLASS_STORE, 0, 0},
	{"f0 48 01 07", INSN_PLAIN, CLASS_ATOMIC, 0, 0},
	{"87 07", INSN_PLAIN, CLASS_ATOMIC, 0, 0},
	{"0f b1 0f", INSN_PLAIN, CLASS_STORE, 0, 0},
	{"f0 0f b1 0f", INSN_PLAIN, CLASS_ATOMIC, 0, 0},
	{"48 39 07", INSN_PLAIN, CLASS_INTEGER, 0, 0}, /* cmp reads only */
	{"0f 94 07", INSN_PLAIN, CLASS_STORE, 0, 0},
	{"50", INSN_PLAIN, CLASS_STORE, 0, 0},
	{"58", INSN_PLAIN, CLASS_LOAD, 0, 0},
	{"c9", INSN_PLAIN, CLASS_LOAD, 0, 0},
	{"f3 48 a5", INSN_PLAIN, CLASS_STORE, 0, 0},
	{"f3 a6", INSN_PLAIN, CLASS_INTEGER, 0, 0},
	{"f2 0f 58 c1", INSN_PLAIN, CLASS_FLOAT, 0, 0},
	{"f2 0f 58 07", INSN_PLAIN, CLASS_FLOAT, 0, 0},
	{"f2 48 0f 2a c0", INSN_PLAIN, CLASS_FLOAT, 0, 0},
	{"f3 0f 2c c0", INSN_PLAIN, CLASS_FLOAT, 0, 0},
	{"66 0f 2e c1", INSN_PLAIN, CLASS_FLOAT, 0, 0},
	{"d8 c1", INSN_PLAIN, CLASS_FLOAT, 0, 0},
	{"d9 07", INSN_PLAIN, CLASS_LOAD, 0, 0},
	{"dd 1f", INSN_PLAIN, CLASS_STORE, 0, 0},
	{"0f 58 c1", INSN_PLAIN, CLASS_SIMD, 0, 0},
	{"0f 28 c1", INSN_PLAIN, CLASS_SIMD, 0, 0},
	{"f2 0f 10 c1", INSN_PLAIN, CLASS_SIMD, 0, 0},
	{"f2 0f 10 07", INSN_PLAIN, CLASS_LOAD, 0, 0},
	{"f2 0f 11 07", INSN_PLAIN, CLASS_STORE, 0, 0},
	{"66 0f 38 1e c1", INSN_PLAIN, CLASS_SIMD, 0, 0}, /* pabsd */
	{"c5 fa 58 c1", INSN_PLAIN, CLASS_FLOAT, 0, 0},
	{"c4 e2 f1 99 c2", INSN_PLAIN, CLASS_FLOAT, 0, 0},
	{"c4 e2 7d 18 07", INSN_PLAIN, CLASS_LOAD, 0, 0},
	{"62 f1 7c 48 58 c1", INSN_PLAIN, CLASS_SIMD, 0, 0},
	{"62 f1 7c 48 29 07", INSN_PLAIN, CLASS_STORE, 0, 0},
	{"c5 f8 77", INSN_PLAIN, CLASS_SIMD, 0, 0},
	{"0f 18 0f", INSN_PLAIN, CLASS_OTHER, 0, 0},
	{"0f ae f0", INSN_PLAIN, CLASS_OTHER, 0, 0},
	{"0f a2", INSN_PLAIN, CLASS_OTHER, 0, 0},
	{"0f 31", INSN_PLAIN, CLASS_OTHER, 0, 0},
};

static void test_flow(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(flow_rows); i++) {
		const struct flow_row *row = &flow_rows[i];
		/* Worked out, remembered if it can be, and in full. */
		for (int round = 0; round < 3; round++) {
			struct insn in =
				decode_with(row->hex, round < 2 ? DECODE_FLOW : DECODE_FULL,
					    round == 1 ? 16 : 0);
			EXPECT(row, kind);
			EXPECT(row, class);
			EXPECT(row, target);
			in.flags &= INSN_NOP | INSN_LANDING | INSN_LANDING_JUMP_ONLY;
			EXPECT(row, flags);
		}
	}
}

struct value_row {
	const char *hex;
	uint8_t op, dst, a, b, width, extend, shift, flags;
	int64_t imm, value;
};

static const struct value_row value_rows[] = {
	{"b8 ff ff ff ff", OP_SET, RAX, NONE, NONE, 4, 0, 0, 0, 0xffffffff, 0},
	{"48 c7 c0 ff ff ff ff", OP_SET, RAX, NONE, NONE, 8, 0, 0, 0, -1, 0},
	{"48 b8 01 00 00 00 00 00 00 80", OP_SET, RAX, NONE, NONE, 8, 0, 0, 0, INT64_MIN + 1, 0},
	{"b0 01", OP_OTHER, NONE, NONE, NONE, 0, 0, 0, 0, 0, 0},
	{"4c 8d 05 f9 ff ff ff", OP_SET, R8, NONE, NONE, 8, 0, 0, INSN_PC_RELATIVE, PC, 0},
	{"31 c0", OP_SET, RAX, NONE, NONE, 4, 0, 0, 0, 0, 0},
	{"4d 29 c0", OP_SET, R8, NONE, NONE, 8, 0, 0, 0, 0, 0},
	{"48 89 e5", OP_MOVE, RBP, RSP, NONE, 8, EXTEND_NONE, 0, 0, 0, 0},
	{"89 c1", OP_MOVE, RCX, RAX, NONE, 4, EXTEND_U32, 0, 0, 0, 0},
	{"0f b6 c1", OP_MOVE, RAX, RCX, NONE, 1, EXTEND_U8, 0, 0, 0, 0},
	{"0f b6 c5", OP_OTHER, NONE, NONE, NONE, 0, 0, 0, 0, 0, 0}, /* ch */
	{"0f b7 c1", OP_MOVE, RAX, RCX, NONE, 2, EXTEND_U16, 0, 0, 0, 0},
	{"48 0f be c1", OP_MOVE, RAX, RCX, NONE, 1, EXTEND_S8, 0, 0, 0, 0},
	{"48 63 c1", OP_MOVE, RAX, RCX, NONE, 4, EXTEND_S32, 0, 0, 0, 0},
	{"63 c1", OP_MOVE, RAX, RCX, NONE, 4, EXTEND_U32, 0, 0, 0, 0},
	{"48 98", OP_MOVE, RAX, RAX, NONE, 4, EXTEND_S32, 0, 0, 0, 0},
	{"48 8d 44 91 10", OP_ADD, RAX, RCX, RDX, 8, 0, 2, 0, 0x10, 0},
	{"48 8d 04 c5 10 00 00 00", OP_ADD, RAX, NONE, RAX, 8, 0, 3, 0, 0x10, 0},
	{"8d 47 ff", OP_ADD, RAX, RDI, NONE, 4, 0, 0, 0, -1, 0},
	{"48 83 c0 f0", OP_ADD, RAX, RAX, NONE, 8, 0, 0, 0, -16, 0},
	{"48 01 c8", OP_ADD, RAX, RAX, RCX, 8, 0, 0, 0, 0, 0},
	{"48 03 07", OP_OTHER, NONE, NONE, NONE, 0, 0, 0, 0, 0, 0},
	{"83 e8 05", OP_ADD, RAX, RAX, NONE, 4, 0, 0, INSN_COMPARES, -5, 0},
	{"48 29 c8", OP_SUB, RAX, RAX, RCX, 8, 0, 0, INSN_COMPARES, 0, 0},
	{"ff c8", OP_ADD, RAX, RAX, NONE, 4, 0, 0, 0, -1, 0},
	{"83 e0 f0", OP_AND, RAX, RAX, NONE, 4, 0, 0, 0, 0xfffffff0, 0},
	{"48 83 e4 f0", OP_AND, RSP, RSP, NONE, 8, 0, 0, 0, -16, 0},
	{"48 c1 e0 03", OP_SHIFT_LEFT, RAX, RAX, NONE, 8, 0, 0, 0, 3, 0},
	{"d1 e8", OP_SHIFT_RIGHT, RAX, RAX, NONE, 4, 0, 0, 0, 1, 0},
	{"48 8b 44 24 08", OP_LOAD, RAX, RSP, NONE, 8, 0, 0, 0, 8, 0},
	{"8b 05 00 01 00 00", OP_LOAD, RAX, NONE, NONE, 4, 0, 0, 0, PC + 0x106, 0},
	{"48 63 04 8a", OP_LOAD, RAX, RDX, RCX, 4, 0, 2, INSN_SIGNED, 0, 0},
	{"0f b6 04 11", OP_LOAD, RAX, RCX, RDX, 1, 0, 0, 0, 0, 0},
	{"48 0f bf 07", OP_LOAD, RAX, RDI, NONE, 2, 0, 0, INSN_SIGNED, 0, 0},
	{"64 48 8b 04 25 28 00 00 00", OP_OTHER, NONE, NONE, NONE, 0, 0, 0, 0, 0, 0},
	{"67 8b 07", OP_OTHER, NONE, NONE, NONE, 0, 0, 0, 0, 0, 0},
	{"8a 07", OP_OTHER, NONE, NONE, NONE, 0, 0, 0, 0, 0, 0},
	{"48 89 5c 24 f8", OP_STORE, RBX, RSP, NONE, 8, 0, 0, 0, -8, 0},
	{"88 07", OP_STORE, RAX, RDI, NONE, 1, 0, 0, 0, 0, 0},
	{"c7 07 05 00 00 00", OP_STORE, NONE, RDI, NONE, 4, 0, 0, 0, 0, 5},
	{"41 57", OP_PUSH, R15, NONE, NONE, 8, 0, 0, 0, 0, 0},
	{"6a 05", OP_PUSH, NONE, NONE, NONE, 8, 0, 0, 0, 0, 0},
	{"ff 37", OP_PUSH, NONE, NONE, NONE, 8, 0, 0, 0, 0, 0},
	{"9c", OP_PUSH, NONE, NONE, NONE, 8, 0, 0, 0, 0, 0},
	{"5d", OP_POP, RBP, RSP, NONE, 8, 0, 0, 0, 0, 0},
	{"c9", OP_POP, RBP, RBP, NONE, 8, 0, 0, 0, 0, 0}, /* leave */
	{"83 ff 2a", OP_COMPARE, NONE, RDI, NONE, 4, 0, 0, 0, 42, 0},
	{"3c ff", OP_COMPARE, NONE, RAX, NONE, 1, 0, 0, 0, -1, 0},
	{"48 39 c8", OP_COMPARE, NONE, RAX, RCX, 8, 0, 0, 0, 0, 0},
	{"80 7f 04 2a", OP_COMPARE_MEM, NONE, RDI, NONE, 1, 0, 0, 0, 4, 42},
	{"83 3d 00 00 00 00 09", OP_COMPARE_MEM, NONE, NONE, NONE, 4, 0, 0, 0, PC + 7, 9},
	{"3b 07", OP_TEST_MEM, RAX, RDI, NONE, 4, 0, 0, 0, 0, 0},
	{"39 47 08", OP_TEST_MEM, RAX, RDI, NONE, 4, 0, 0, 0, 8, 0},
	{"84 07", OP_TEST_MEM, RAX, RDI, NONE, 1, 0, 0, 0, 0, 0},
	{"f6 07 01", OP_TEST_MEM, NONE, RDI, NONE, 1, 0, 0, 0, 0, 0},
	{"48 85 c0", OP_TEST, NONE, RAX, RAX, 8, 0, 0, 0, 0, 0},
	{"a8 01", OP_TEST, NONE, RAX, NONE, 1, 0, 0, 0, 1, 0},
	{"3e ff e2", OP_MOVE, NONE, RDX, NONE, 8, 0, 0, 0, 0, 0},
	{"ff 24 c5 00 10 40 00", OP_LOAD, NONE, NONE, RAX, 8, 0, 3, 0, 0x401000, 0},
	{"ff 25 10 00 00 00", OP_LOAD, NONE, NONE, NONE, 8, 0, 0, 0, PC + 0x16, 0},
	{"ff 50 08", OP_LOAD, NONE, RAX, NONE, 8, 0, 0, 0, 8, 0},
	{"f2 0f 10 07", OP_OTHER, NONE, NONE, NONE, 0, 0, 0, 0, 0, 0},
	{"0f 1f 00", OP_OTHER, NONE, NONE, NONE, 0, 0, 0, INSN_NOP, 0, 0},
};

static void test_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(value_rows); i++) {
		const struct value_row *row = &value_rows[i];
		struct insn in = decode(row->hex, DECODE_FULL);
		EXPECT(row, op);
		EXPECT(row, dst);
		EXPECT(row, a);
		EXPECT(row, b);
		EXPECT(row, width);
		EXPECT(row, extend);
		EXPECT(row, shift);
		EXPECT(row, flags);
		EXPECT(row, imm);
		EXPECT(row, value);
		assert_int_equal(in.dst2, NONE);
		assert_int_equal(in.writeback, WRITEBACK_NONE);
	}
}

struct stack_row {
	const char *hex;
	bool stack_known;
	int32_t stack;
};

static const struct stack_row stack_rows[] = {
	{"90", true, 0},
	{"48 89 c7", true, 0},
	{"50", true, -8},
	{"66 50", true, -2},
	{"5f", true, 8},
	{"8f 07", true, 8},
	{"9c", true, -8},
	{"9d", true, 8},
	{"5c", false, 0}, /* pop %rsp */
	{"48 83 ec 18", true, -0x18},
	{"48 81 c4 00 01 00 00", true, 0x100},
	{"48 8d 64 24 f8", true, -8},
	{"48 8d 65 d8", false, 0}, /* lea -0x28(%rbp),%rsp */
	{"48 89 ec", false, 0},
	{"48 83 e4 f0", false, 0},
	{"48 29 c4", false, 0},
	{"c9", false, 0},
	{"c8 10 00 00", true, -0x18},
	{"e8 00 00 00 00", true, 0},
	{"ff d0", true, 0},
	{"c3", true, 0},
	{"c2 10 00", true, 0x10},
};

static void test_stack(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(stack_rows); i++) {
		const struct stack_row *row = &stack_rows[i];
		struct insn in = decode(row->hex, DECODE_FULL);
		EXPECT(row, stack_known);
		EXPECT(row, stack);
	}
}

struct regs_row {
	const char *hex;
	struct regset reads, writes;
};

static const struct regs_row regs_rows[] = {
	{"48 89 c7", {B(RAX), 0}, {B(RDI), 0}},
	{"89 c7", {B(RAX), 0}, {B(RDI), 0}},
	{"88 c7", {B(RAX) | B(RBX), 0}, {B(RBX), 0}}, /* bh */
	{"66 89 c7", {B(RAX) | B(RDI), 0}, {B(RDI), 0}},
	{"48 8b 44 91 10", {B(RCX) | B(RDX), 0}, {B(RAX), 0}},
	{"48 89 44 91 10", {B(RAX) | B(RCX) | B(RDX), 0}, {0, 0}},
	{"48 01 c8", {B(RAX) | B(RCX), 0}, {B(RAX) | F, 0}},
	{"48 11 c8", {B(RAX) | B(RCX) | F, 0}, {B(RAX) | F, 0}},
	{"ff c0", {B(RAX) | F, 0}, {B(RAX) | F, 0}}, /* keeps CF */
	{"c1 e0 03", {B(RAX), 0}, {B(RAX) | F, 0}},
	{"c1 e0 20", {B(RAX) | F, 0}, {B(RAX) | F, 0}}, /* by 0 */
	{"d3 e0", {B(RAX) | B(RCX) | F, 0}, {B(RAX) | F, 0}},
	{"31 c0", {0, 0}, {B(RAX) | F, 0}},
	{"30 c0", {B(RAX), 0}, {B(RAX) | F, 0}},
	{"49 83 cb ff", {0, 0}, {B(R11) | F, 0}}, /* or r11, -1 */
	{"49 83 cb 7f", {B(R11), 0}, {B(R11) | F, 0}},
	{"41 80 cb ff", {B(R11), 0}, {B(R11) | F, 0}}, /* or r11b, -1 */
	{"48 19 c0", {F, 0}, {B(RAX) | F, 0}},
	{"0f 44 c1", {B(RAX) | B(RCX) | F, 0}, {B(RAX), 0}},
	{"0f 94 c0", {B(RAX) | F, 0}, {B(RAX), 0}},
	{"0f bc c1", {B(RAX) | B(RCX), 0}, {B(RAX) | F, 0}},
	{"f3 0f bc c1", {B(RCX), 0}, {B(RAX) | F, 0}}, /* tzcnt */
	{"f3 48 0f 1e c8", {B(RAX), 0}, {B(RAX), 0}},  /* rdsspq */
	{"48 f7 e1", {B(RAX) | B(RCX), 0}, {B(RAX) | B(RDX) | F, 0}},
	{"48 f7 f9", {B(RAX) | B(RCX) | B(RDX), 0}, {B(RAX) | B(RDX) | F, 0}},
	{"48 99", {B(RAX), 0}, {B(RDX), 0}},
	{"48 87 c8", {B(RAX) | B(RCX), 0}, {B(RAX) | B(RCX), 0}},
	{"f0 48 0f b1 0f", {B(RAX) | B(RCX) | B(RDI), 0}, {B(RAX) | F, 0}},
	{"f0 48 0f c1 0f", {B(RCX) | B(RDI), 0}, {B(RCX) | F, 0}},
	{"f3 48 a5", {B(RCX) | B(RSI) | B(RDI), 0}, {B(RCX) | B(RSI) | B(RDI), 0}},
	{"f3 aa", {B(RAX) | B(RCX) | B(RDI), 0}, {B(RCX) | B(RDI), 0}},
	{"f3 a6", {B(RCX) | B(RSI) | B(RDI) | F, 0}, {B(RCX) | B(RSI) | B(RDI) | F, 0}},
	{"ae", {B(RAX) | B(RDI), 0}, {B(RDI) | F, 0}},
	{"fc", {0, 0}, {0, 0}}, /* cld */
	{"d7", {B(RAX) | B(RBX), 0}, {B(RAX), 0}},
	{"0f a2", {B(RAX) | B(RCX), 0}, {B(RAX) | B(RBX) | B(RCX) | B(RDX), 0}},
	{"0f 05",
	 {B(RAX) | B(RDI) | B(RSI) | B(RDX) | B(R10) | B(R8) | B(R9), 0},
	 {B(RAX) | B(RCX) | B(R11), 0}},
	{"50", {B(RAX) | B(RSP), 0}, {B(RSP), 0}},
	{"58", {B(RSP), 0}, {B(RAX) | B(RSP), 0}},
	{"9c", {B(RSP) | F, 0}, {B(RSP), 0}},
	{"9d", {B(RSP), 0}, {B(RSP) | F, 0}},
	{"c9", {B(RBP) | B(RSP), 0}, {B(RBP) | B(RSP), 0}},
	{"e8 00 00 00 00", {B(RSP), 0}, {B(RSP), 0}},
	{"ff d0", {B(RAX) | B(RSP), 0}, {B(RSP), 0}},
	{"74 00", {F, 0}, {0, 0}},
	{"e2 00", {B(RCX), 0}, {B(RCX), 0}},
	{"0f 1f 44 00 00", {0, 0}, {0, 0}},
	{"48 83 3f 00", {B(RDI), 0}, {F, 0}},
	/* vectors: SSE forms keep the upper half, VEX and EVEX forms clear it */
	{"0f 28 c1", {0, 3}, {0, 1}},
	{"c5 f8 28 c1", {0, 2}, {0, 1}},
	{"66 0f ef c0", {0, 0}, {0, 1}},
	{"66 0f ef c1", {0, 3}, {0, 1}},
	{"c5 f9 ef c0", {0, 0}, {0, 1}},
	{"66 0f 6e c7", {B(RDI), 1}, {0, 1}},
	{"0f 58 c1", {B(MXCSR), 3}, {B(MXCSR), 1}},
	{"c5 f2 58 c2", {B(MXCSR), 6}, {B(MXCSR), 1}},
	{"62 f1 74 49 58 c2", {B(MXCSR) | B(K1), 7}, {B(MXCSR), 1}},
	{"62 f1 74 c9 58 c2", {B(MXCSR) | B(K1), 6}, {B(MXCSR), 1}},
	{"62 f1 74 48 58 c2", {B(MXCSR), 6}, {B(MXCSR), 1}},
	{"66 0f 2e c1", {B(MXCSR), 3}, {B(MXCSR) | F, 0}},
	{"c4 e2 71 92 04 90", {B(RAX) | B(MXCSR), 7}, {B(MXCSR), 3}},
	{"c5 f8 77", {0, 0}, {0, 0}}, /* the lower halves stay */
	{"c5 fc 77", {0, 0}, {0, 0xffff}},
	{"0f ae 10", {B(RAX), 0}, {B(MXCSR), 0}},
	{"d9 07", {B(RDI) | B(X87), 0}, {B(X87), 0}},
	{"df e0", {B(RAX) | B(X87), 0}, {B(RAX) | B(X87), 0}},
	{"0f ef c1", {B(X87), 0}, {B(X87), 0}},
};

static void test_registers(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(regs_rows); i++) {
		const struct regs_row *row = &regs_rows[i];
		struct insn in = decode(row->hex, DECODE_FULL);
		EXPECT(row, reads.core);
		EXPECT(row, writes.core);
		EXPECT(row, reads.vec);
		EXPECT(row, writes.vec);
	}
}

struct parts_row {
	const char *hex;
	struct part_uses parts;
};

static const struct parts_row parts_rows[] = {
	{"4d 89 d3", {B(R10), B(R11), B(R10), B(R11)}},            /* mov r11, r10 */
	{"45 89 d3", {B(R10), B(R11), B(R10), B(R11)}},            /* mov r11d, r10d */
	{"66 45 89 d3", {B(R10), 0, B(R10), B(R11)}},              /* mov r11w, r10w */
	{"45 88 d3", {0, 0, B(R10), B(R11)}},                      /* mov r11b, r10b */
	{"88 e0", {B(RAX), 0, 0, B(RAX)}},                         /* mov al, ah */
	{"88 c4", {0, 0, B(RAX), 0}},                              /* mov ah, al */
	{"41 0f 94 c3", {0, 0, F, B(R11)}},                        /* sete r11b */
	{"41 0f 92 c3", {F, 0, 0, B(R11)}},                        /* setb r11b */
	{"45 84 db", {0, F, B(R11), F}},                           /* test r11b, r11b */
	{"45 8a 1b", {B(R11), 0, B(R11), B(R11)}},                 /* mov r11b, [r11] */
	{"41 80 c3 01", {0, F, B(R11), B(R11) | F}},               /* add r11b, 1 */
	{"41 ff c3", {B(R11), B(R11), B(R11), B(R11) | F}},        /* inc r11d */
	{"41 d3 e3", {B(R11), B(R11), B(RCX) | B(R11), B(R11)}},   /* shl r11d, cl */
	{"4d 0f a3 d3", {B(R10) | B(R11), F, B(R10) | B(R11), 0}}, /* bt r11, r10 */
	{"75 00", {0, 0, F, 0}},                                   /* jne */
	{"73 00", {F, 0, 0, 0}},                                   /* jae */
	{"77 00", {F, 0, F, 0}},                                   /* ja */
	{"45 31 db", {0, B(R11) | F, 0, B(R11) | F}},              /* xor r11d, r11d */
	{"4d 19 db", {F, B(R11) | F, 0, B(R11) | F}},              /* sbb r11, r11 */
	{"49 83 cb ff", {0, B(R11) | F, 0, B(R11) | F}},           /* or r11, -1 */
};

static void test_parts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(parts_rows); i++) {
		const struct parts_row *row = &parts_rows[i];
		struct insn in = decode(row->hex, DECODE_FULL);
		EXPECT(row, parts.high_reads);
		EXPECT(row, parts.high_writes);
		EXPECT(row, parts.low_reads);
		EXPECT(row, parts.low_writes);
	}
}

static void test_conditions(void **state)
{
	(void)state;
	static const uint8_t conditions[16] = {
		COND_OTHER, COND_OTHER, COND_ULT,   COND_UGE,   COND_EQ,    COND_NE,
		COND_ULE,   COND_UGT,   COND_OTHER, COND_OTHER, COND_OTHER, COND_OTHER,
		COND_SLT,   COND_SGE,   COND_SLE,   COND_SGT,
	};
	for (uint8_t i = 0; i < 16; i++) {
		const uint8_t bytes[] = {(uint8_t)(0x70 + i), 0};
		struct insn in;
		assert_int_equal(arch_x64.decode(bytes, 2, PC, DECODE_FULL, &in), 2);
		assert_int_equal(in.cond, conditions[i]);
	}
}

static void test_invalid(void **state)
{
	(void)state;
	static const char *const rows[] = {
		"06",          "d6",
		"82 00 00",    "0f 04",
		"c4 00 00 00", "62 00 00 00 00 00",
		"f0 89 c0",    "66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 90", /* 16 bytes */
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint8_t bytes[32] = {0};
		parse_hex(rows[i], bytes);
		struct insn in;
		assert_int_equal(arch_x64.decode(bytes, sizeof(bytes), PC, DECODE_FLOW, &in), 0);
		assert_int_equal(arch_x64.decode(bytes, sizeof(bytes), PC, DECODE_FULL, &in), 0);
	}
	struct insn in;
	assert_int_equal(arch_x64.decode((const uint8_t *)"", 0, PC, DECODE_FLOW, &in), 0);
}

static uint64_t random_next(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

/* Random bytes with a preference for prefixes and escapes in front. */
static void random_bytes(uint64_t *s, uint8_t *out, size_t n)
{
	static const uint8_t front[] = {0x0f, 0x66, 0xf2, 0xf3, 0x48, 0x41, 0xc4, 0xc5,
					0x62, 0x67, 0x2e, 0x40, 0x90, 0x8d, 0xf0, 0x87};
	for (size_t i = 0; i < n; i++)
		out[i] = (uint8_t)random_next(s);
	for (size_t i = random_next(s) % 5; i-- && i < n;)
		if (random_next(s) % 4)
			out[i] = front[random_next(s) % sizeof(front)];
}

static void expect_same_flow(const struct insn *x, const struct insn *y)
{
	const uint8_t flags = INSN_NOP | INSN_LANDING;
	assert_int_equal(x->pc, y->pc);
	assert_int_equal(x->target, y->target);
	assert_int_equal(x->length, y->length);
	assert_int_equal(x->kind, y->kind);
	assert_int_equal(x->class, y->class);
	assert_int_equal(x->flags & flags, y->flags & flags);
}

/* Registers as a whole and their parts. */
static void expect_same_uses(const struct insn *in)
{
	const uint64_t known = 0xffff | F;
	uint64_t read = in->parts.high_reads | in->parts.low_reads;
	uint64_t written = in->parts.high_writes | in->parts.low_writes;
	assert_int_equal(read & ~in->reads.core, 0);
	assert_int_equal(written & ~in->writes.core, 0);
	uint64_t whole = in->parts.high_writes & in->parts.low_writes;
	/* What is not surely written as a whole is read to be kept. */
	assert_int_equal(in->writes.core & known & ~whole & ~in->reads.core, 0);
	/* What is only read, is read. */
	assert_int_equal(in->reads.core & known & ~in->writes.core & ~read, 0);
}

/* What DECODE_FLOW remembers is what DECODE_FULL, which never remembers, works out; and neither
 * reads beyond what it was given, in a heap block of exactly that size. */
static void test_random(void **state)
{
	(void)state;
	uint64_t seed = 88172645463325252u;
	for (int i = 0; i < 300000; i++) {
		size_t n = 1 + random_next(&seed) % 24;
		uint8_t *bytes = xmalloc(n);
		random_bytes(&seed, bytes, n);
		struct insn full, flow;
		size_t length = arch_x64.decode(bytes, n, PC, DECODE_FULL, &full);
		assert_in_range(length, 0, n < 15 ? n : 15);
		assert_int_equal(arch_x64.decode(bytes, n, PC, DECODE_FLOW, &flow), length);
		if (length) {
			expect_same_flow(&full, &flow);
			expect_same_uses(&full);
		}
		free(bytes);
	}
}

static void test_facts(void **state)
{
	(void)state;
	assert_ptr_equal(arch_of_machine(62), &arch_x64);
	assert_string_equal(arch_x64.reg_name(arch_x64.sp), "rsp");
	assert_string_equal(arch_x64.reg_name(arch_x64.fp), "rbp");
	assert_string_equal(arch_x64.reg_name(arch_x64.first_arg), "rdi");
	assert_string_equal(arch_x64.reg_name(15), "r15");
	assert_string_equal(arch_x64.reg_name(REG_FLAGS), "flags");
	assert_string_equal(arch_x64.reg_name(40), "?");
}

static void expect_text(const struct arch *arch, const char *hex, const char *expected)
{
	uint8_t bytes[32];
	size_t n = parse_hex(hex, bytes);
	struct insn_printer *p = insn_printer_new(arch);
	struct text out = TEXT_INIT;
	insn_print(p, bytes, n, PC, &out);
	assert_string_equal(out.data, expected);
	text_release(&out);
	insn_printer_free(p);
}

static void test_text(void **state)
{
	(void)state;
	expect_text(&arch_x64, "48 83 ec 18", "subq $0x18, %rsp");
	expect_text(&arch_x64, "74 fe", "je 0x1000");
	expect_text(&arch_x64, "c3", "retq");
	expect_text(&arch_x64, "c5 fb 93 c1", "kmovd %k1, %eax");
	expect_text(&arch_x64, "d6 01", ".byte 0xd6, 0x01");
	expect_text(&arch_a64, "fd 7b bf a9", "stp x29, x30, [sp, #-0x10]!");
	expect_text(&arch_a64, "3f 23 03 d5", "paciasp");
	expect_text(&arch_a64, "5f 24 03 d5", "bti c");
	expect_text(&arch_a64, "00 00 00 02", ".inst 0x02000000");
}

static void versions_of_capstone_print_the_same(void **state)
{
	(void)state;
	expect_text(&arch_x64, "3e ff e2", "notrack jmpq *%rdx");
	expect_text(&arch_x64, "3e ff d0", "notrack callq *%rax");
	expect_text(&arch_x64, "ff e2", "jmpq *%rdx");
	expect_text(&arch_x64, "66 48 0f 7e c8", "movq %xmm1, %rax");
	expect_text(&arch_x64, "66 4d 0f 6e c4", "movq %r12, %xmm8");
	expect_text(&arch_x64, "66 0f 7e c8", "movd %xmm1, %eax");
	expect_text(&arch_a64, "0b 00 aa d2", "mov x11, #0x50000000");
	expect_text(&arch_a64, "b0 00 80 d2", "mov x16, #5");
	expect_text(&arch_a64, "01 00 80 52", "mov w1, #0");
	expect_text(&arch_a64, "1f 00 a2 52", "mov wzr, #0x10000000");
	expect_text(&arch_a64, "01 00 a0 d2", "movz x1, #0, lsl #16");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flow),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_stack),
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_text),
		cmocka_unit_test(versions_of_capstone_print_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
