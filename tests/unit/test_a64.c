/* The A64 decoder: words in, fields out.
 *
 * An instruction is compared as text, so that a row tells all that the decoder says of it:
 *
 *	kind class [flags] | op operands | stack | reads | writes
 *
 * where a plain kind, OP_OTHER, an unmoved stack pointer and empty sets are left out. Everything
 * stands at PC. That the words are what the rows say they are, and that the decoder agrees with
 * others on far more of them, is what bench/decode-oracle checks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vec.h"
#include "isa/a64/table.h"
#include "isa/arch.h"

#define PC UINT64_C(0x10000000)

static const char *const flag_names[] = {
	"nop",         "landing",  "jump-only",   "signed",          "signs-link",
	"checks-link", "compares", "pc-relative", "exclusive-begin", "exclusive-end"};
static const char *const extend_names[] = {"", "u8", "u16", "u32", "s8", "s16", "s32"};
static const char *const cond_names[] = {"?",   "eq",  "ne",  "ult", "ule", "ugt",
					 "uge", "slt", "sle", "sgt", "sge"};
static const char *const writeback_names[] = {"", " pre", " post"};

static void add_reg(struct text *t, const char *role, uint8_t reg)
{
	if (reg != REG_NONE)
		text_printf(t, " %s=%s", role, arch_a64.reg_name(reg));
}

static void add_op(struct text *t, const struct insn *in)
{
	if (in->op == OP_OTHER && in->kind != INSN_BRANCH)
		return;
	text_add(t, " |");
	if (in->op != OP_OTHER)
		text_printf(t, " %s%u", insn_op_name[in->op], in->width);
	add_reg(t, "dst", in->dst);
	add_reg(t, "dst2", in->dst2);
	add_reg(t, "a", in->a);
	add_reg(t, "b", in->b);
	if (in->extend != EXTEND_NONE)
		text_printf(t, " %s", extend_names[in->extend]);
	if (in->shift)
		text_printf(t, " <<%u", in->shift);
	if (in->imm)
		text_printf(t, " %s0x%" PRIx64, in->imm < 0 ? "-" : "",
			    in->imm < 0 ? -(uint64_t)in->imm : (uint64_t)in->imm);
	text_add(t, writeback_names[in->writeback]);
	if (in->kind == INSN_BRANCH)
		text_printf(t, " %s", cond_names[in->cond]);
}

/* A run of registers is written first-last. */
static void add_run(struct text *t, const char *prefix, unsigned first, unsigned count)
{
	text_printf(t, count > 1 ? " %s%u-%u" : " %s%u", prefix, first, first + count - 1);
}

static void add_runs(struct text *t, const char *prefix, uint64_t set)
{
	for (unsigned i = 0; set >> i; i++) {
		unsigned count = 0;
		while (set >> i >> count & 1)
			count++;
		if (count)
			add_run(t, prefix, i, count);
		i += count;
	}
}

static void add_set(struct text *t, const char *role, const struct regset *s)
{
	if (!s->core && !s->vec)
		return;
	text_printf(t, " | %s", role);
	add_runs(t, "x", s->core & 0x7fffffff);
	if (regset_has(s, 31))
		text_add(t, " sp");
	if (regset_has(s, REG_FLAGS))
		text_add(t, " flags");
	add_runs(t, "p", s->core >> A64_FIRST_PREDICATE & 0xffff);
	if (regset_has(s, A64_FFR))
		text_add(t, " ffr");
	if (regset_has(s, A64_FPCR))
		text_add(t, " fpcr");
	add_runs(t, "v", s->vec);
}

static void describe(struct text *t, const struct insn *in)
{
	if (in->kind != INSN_PLAIN)
		text_printf(t, "%s ", insn_kind_name[in->kind]);
	if (in->target)
		text_printf(t, "%+" PRId64 " ", (int64_t)(in->target - PC));
	text_add(t, insn_class_name[in->class]);
	for (size_t i = 0; i < ARRAY_SIZE(flag_names); i++)
		if (in->flags >> i & 1)
			text_printf(t, " %s", flag_names[i]);
	add_op(t, in);
	if (!in->stack_known)
		text_add(t, " | sp ?");
	else if (in->stack)
		text_printf(t, " | sp%+d", in->stack);
	add_set(t, "reads", &in->reads);
	add_set(t, "writes", &in->writes);
}

static size_t decode_word(uint32_t word, enum insn_detail detail, struct insn *in)
{
	uint8_t bytes[] = {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
			   (uint8_t)(word >> 24)};
	memset(in, 0xa5, sizeof(*in)); /* so that a field left unset shows */
	return arch_a64.decode(bytes, sizeof(bytes), PC, detail, in);
}

static const struct {
	uint32_t word;
	const char *assembly, *expected;
} rows[] = {
	{0x00000007, "udf #7", "trap other"},
	{0x10000081, "adr x1, .+16", "integer pc-relative | set8 dst=x1 0x10000010 | writes x1"},
	{0xf0000002, "adrp x2, .+0x3000",
	 "integer pc-relative | set8 dst=x2 0x10003000 | writes x2"},
	{0xf0ffffe2, "adrp x2, .-0x1000",
	 "integer pc-relative | set8 dst=x2 0xffff000 | writes x2"},
	{0x91004020, "add x0, x1, #16", "integer | add8 dst=x0 a=x1 0x10 | reads x1 | writes x0"},
	{0x910083ff, "add sp, sp, #0x20",
	 "integer | add8 dst=sp a=sp 0x20 | sp+32 | reads sp | writes sp"},
	{0xd14007ff, "sub sp, sp, #1, lsl #12",
	 "integer | add8 dst=sp a=sp -0x1000 | sp-4096 | reads sp | writes sp"},
	{0x910003fd, "mov x29, sp", "integer | add8 dst=x29 a=sp | reads sp | writes x29"},
	{0x910003bf, "mov sp, x29", "integer | add8 dst=sp a=x29 | sp ? | reads x29 | writes sp"},
	{0x11001483, "add w3, w4, #5", "integer | add4 dst=x3 a=x4 0x5 | reads x4 | writes x3"},
	{0xb1000020, "adds x0, x1, #0", "integer | add8 dst=x0 a=x1 | reads x1 | writes x0 flags"},
	{0xb1001020, "adds x0, x1, #4",
	 "integer compares | add8 dst=x0 a=x1 0x4 | reads x1 | writes x0 flags"},
	{0x71001cc5, "subs w5, w6, #7",
	 "integer compares | add4 dst=x5 a=x6 -0x7 | reads x6 | writes x5 flags"},
	{0x7100241f, "cmp w0, #9", "integer | compare4 a=x0 0x9 | reads x0 | writes flags"},
	{0xb100041f, "cmn x0, #1", "integer | compare8 a=x0 -0x1 | reads x0 | writes flags"},
	{0xb100001f, "cmn x0, #0", "integer | reads x0 | writes flags"},
	{0x918107e0, "addg x0, sp, #16, #1", "integer | reads sp | writes x0"},
	{0x92781c20, "and x0, x1, #0xff00",
	 "integer | and8 dst=x0 a=x1 0xff00 | reads x1 | writes x0"},
	{0x927ced3f, "and sp, x9, #0xfffffffffffffff0",
	 "integer | and8 dst=sp a=x9 -0x10 | sp ? | reads x9 | writes sp"},
	{0x3200bbe0, "orr w0, wzr, #0x7fff7fff", "integer | set4 dst=x0 0x7fff7fff | writes x0"},
	{0xb200f3e0, "mov x0, #0x5555555555555555",
	 "integer | set8 dst=x0 0x5555555555555555 | writes x0"},
	{0xd2400020, "eor x0, x1, #1", "integer | reads x1 | writes x0"},
	{0x72000862, "ands w2, w3, #7",
	 "integer | and4 dst=x2 a=x3 0x7 | reads x3 | writes x2 flags"},
	{0xf279007f, "tst x3, #0x80", "integer | test8 a=x3 0x80 | reads x3 | writes flags"},
	{0xd2c24680, "movz x0, #0x1234, lsl #32",
	 "integer | set8 dst=x0 0x123400000000 | writes x0"},
	{0x12800000, "movn w0, #0", "integer | set4 dst=x0 0xffffffff | writes x0"},
	{0x92800020, "movn x0, #1", "integer | set8 dst=x0 -0x2 | writes x0"},
	{0xf2b7dde0, "movk x0, #0xbeef, lsl #16", "integer | reads x0 | writes x0"},
	{0x93401c20, "sxtb x0, w1", "integer | move1 dst=x0 a=x1 s8 | reads x1 | writes x0"},
	{0x93403c20, "sxth x0, w1", "integer | move2 dst=x0 a=x1 s16 | reads x1 | writes x0"},
	{0x93407c20, "sxtw x0, w1", "integer | move4 dst=x0 a=x1 s32 | reads x1 | writes x0"},
	{0x13001c20, "sxtb w0, w1", "integer | reads x1 | writes x0"},
	{0x9343fc20, "asr x0, x1, #3", "integer | reads x1 | writes x0"},
	{0xb37c1c20, "bfi x0, x1, #4, #8", "integer | reads x0-1 | writes x0"},
	{0xd37df020, "lsl x0, x1, #3", "integer | shl8 dst=x0 a=x1 0x3 | reads x1 | writes x0"},
	{0x53010020, "lsl w0, w1, #31", "integer | shl4 dst=x0 a=x1 0x1f | reads x1 | writes x0"},
	{0x53057c20, "lsr w0, w1, #5", "integer | shr4 dst=x0 a=x1 0x5 | reads x1 | writes x0"},
	{0x53001c20, "uxtb w0, w1", "integer | move1 dst=x0 a=x1 u8 | reads x1 | writes x0"},
	{0x53003c20, "uxth w0, w1", "integer | move2 dst=x0 a=x1 u16 | reads x1 | writes x0"},
	{0xd3401020, "ubfx x0, x1, #0, #5",
	 "integer | and8 dst=x0 a=x1 0x1f | reads x1 | writes x0"},
	{0xd3431c20, "ubfx x0, x1, #3, #5", "integer | reads x1 | writes x0"},
	{0x93c22420, "extr x0, x1, x2, #9", "integer | reads x1-2 | writes x0"},
	{0xaa0103e0, "mov x0, x1", "integer | move8 dst=x0 a=x1 | reads x1 | writes x0"},
	{0x2a0103e0, "mov w0, w1", "integer | move4 dst=x0 a=x1 u32 | reads x1 | writes x0"},
	{0xaa1f03e0, "mov x0, xzr", "integer | set8 dst=x0 | writes x0"},
	{0xaa020020, "orr x0, x1, x2", "integer | reads x1-2 | writes x0"},
	{0xaa2103e0, "mvn x0, x1", "integer | reads x1 | writes x0"},
	{0x6a02003f, "tst w1, w2", "integer | test4 a=x1 b=x2 | reads x1-2 | writes flags"},
	{0x6a02043f, "tst w1, w2, lsl #1", "integer | reads x1-2 | writes flags"},
	{0xea220020, "bics x0, x1, x2", "integer | reads x1-2 | writes x0 flags"},
	{0x8b020020, "add x0, x1, x2", "integer | add8 dst=x0 a=x1 b=x2 | reads x1-2 | writes x0"},
	{0x8b020c20, "add x0, x1, x2, lsl #3",
	 "integer | add8 dst=x0 a=x1 b=x2 <<3 | reads x1-2 | writes x0"},
	{0x8b420c20, "add x0, x1, x2, lsr #3", "integer | reads x1-2 | writes x0"},
	{0x8b228820, "add x0, x1, w2, sxtb #2",
	 "integer | add8 dst=x0 a=x1 b=x2 s8 <<2 | reads x1-2 | writes x0"},
	{0x8b224020, "add x0, x1, w2, uxtw",
	 "integer | add8 dst=x0 a=x1 b=x2 u32 | reads x1-2 | writes x0"},
	{0x8b2363ff, "add sp, sp, x3",
	 "integer | add8 dst=sp a=sp b=x3 | sp ? | reads x3 sp | writes sp"},
	{0xcb020020, "sub x0, x1, x2", "integer | sub8 dst=x0 a=x1 b=x2 | reads x1-2 | writes x0"},
	{0xcb020820, "sub x0, x1, x2, lsl #2", "integer | reads x1-2 | writes x0"},
	{0xcb2363ff, "sub sp, sp, x3",
	 "integer | sub8 dst=sp a=sp b=x3 | sp ? | reads x3 sp | writes sp"},
	{0xcb0103e0, "neg x0, x1", "integer | reads x1 | writes x0"},
	{0xeb020020, "subs x0, x1, x2",
	 "integer compares | sub8 dst=x0 a=x1 b=x2 | reads x1-2 | writes x0 flags"},
	{0xeb02003f, "cmp x1, x2", "integer | compare8 a=x1 b=x2 | reads x1-2 | writes flags"},
	{0xeb02043f, "cmp x1, x2, lsl #1", "integer | reads x1-2 | writes flags"},
	{0xeb2263ff, "cmp sp, x2", "integer | compare8 a=sp b=x2 | reads x2 sp | writes flags"},
	{0xeb1f003f, "cmp x1, xzr", "integer | compare8 a=x1 | reads x1 | writes flags"},
	{0x6b22003f, "cmp w1, w2, uxtb", "integer | reads x1-2 | writes flags"},
	{0xba020020, "adcs x0, x1, x2", "integer | reads x1-2 flags | writes x0 flags"},
	{0xfa431824, "ccmp x1, #3, #4, ne", "integer | reads x1 flags | writes flags"},
	{0x9a820020, "csel x0, x1, x2, eq", "integer | reads x1-2 flags | writes x0"},
	{0x1a9f97e0, "cset w0, hi", "integer | reads flags | writes x0"},
	{0x9ac20820, "udiv x0, x1, x2", "integer | reads x1-2 | writes x0"},
	{0x9b020c20, "madd x0, x1, x2, x3", "integer | reads x1-3 | writes x0"},
	{0x9b427c20, "smulh x0, x1, x2", "integer | reads x1-2 | writes x0"},
	{0x9ac25c20, "crc32cx w0, w1, x2", "integer | reads x1-2 | writes x0"},
	{0xdac01020, "clz x0, x1", "integer | reads x1 | writes x0"},
	{0xdac103e0, "pacia x0, sp", "integer | reads x0 sp | writes x0"},
	{0xdac133e3, "autiza x3", "integer | reads x3 | writes x3"},
	{0xdac143e4, "xpaci x4", "integer | reads x4 | writes x4"},
	{0x9adf3020, "pacga x0, x1, sp", "integer | reads x1 sp | writes x0"},
	{0x9ac2103f, "irg sp, x1, x2", "integer | sp ? | reads x1-2 | writes sp"},
	{0xbac20020, "subps x0, x1, x2", "integer | reads x1-2 | writes x0 flags"},
	{0xba01840f, "rmif x0, #3, #15", "integer | reads x0 flags | writes flags"},
	{0xd500401f, "cfinv", "integer | reads flags | writes flags"},
	{0x14000002, "b .+8", "jump +8 branch"},
	{0x16000000, "b .-0x8000000", "jump -134217728 branch"},
	{0x97ffffff, "bl .-4", "call -4 branch | writes x30"},
	{0x54000800, "b.eq .+0x100", "branch +256 branch | eq | reads flags"},
	{0x54fff808, "b.hi .-0x100", "branch -256 branch | ugt | reads flags"},
	{0x54000044, "b.mi .+8", "branch +8 branch | ? | reads flags"},
	{0x5400004e, "b.al .+8", "jump +8 branch"},
	{0x34000061, "cbz w1, .+12", "branch +12 branch | compare4 a=x1 eq | reads x1"},
	{0xb5ffffa2, "cbnz x2, .-12", "branch -12 branch | compare8 a=x2 ne | reads x2"},
	{0x36f88003, "tbz w3, #31, .+0x1000",
	 "branch +4096 branch | test4 a=x3 0x80000000 eq | reads x3"},
	{0xb7fc0004, "tbnz x4, #63, .-0x8000",
	 "branch -32768 branch | test8 a=x4 -0x8000000000000000 ne | reads x4"},
	{0xd61f0020, "br x1", "jump-indirect branch | move8 a=x1 | reads x1"},
	{0xd63f0040, "blr x2", "call-indirect branch | move8 a=x2 | reads x2 | writes x30"},
	{0xd65f03c0, "ret", "return branch | move8 a=x30 | reads x30"},
	{0xd65f00a0, "ret x5", "return branch | move8 a=x5 | reads x5"},
	{0xd71f083f, "braa x1, sp", "jump-indirect branch | move8 a=x1 | reads x1 sp"},
	{0xd63f087f, "blraaz x3", "call-indirect branch | move8 a=x3 | reads x3 | writes x30"},
	{0xd65f0bff, "retaa", "return branch checks-link | move8 a=x30 | reads x30 sp"},
	{0xd69f03e0, "eret", "return branch | writes flags"},
	{0xd4000001, "svc #0", "syscall branch | reads x0-5 x8 | writes x0"},
	{0xd4200020, "brk #1", "trap other"},
	{0xd4400000, "hlt #0", "trap other"},
	{0xd503201f, "nop", "other nop"},
	{0xd503203f, "yield", "other"},
	{0xd50320ff, "xpaclri", "other | reads x30 | writes x30"},
	{0xd503211f, "pacia1716", "other | reads x16-17 | writes x17"},
	{0xd503233f, "paciasp", "other landing signs-link | reads x30 sp | writes x30"},
	{0xd50323bf, "autiasp", "other checks-link | reads x30 sp | writes x30"},
	{0xd503231f, "paciaz", "other signs-link | reads x30 | writes x30"},
	{0xd50323df, "autibz", "other checks-link | reads x30 | writes x30"},
	{0xd503241f, "bti", "other"},
	{0xd503245f, "bti c", "other landing"},
	{0xd503249f, "bti j", "other landing jump-only"},
	{0xd50324df, "bti jc", "other landing"},
	{0xd5033fdf, "isb", "other"},
	{0xd53b4200, "mrs x0, nzcv", "other | reads flags | writes x0"},
	{0xd51b4200, "msr nzcv, x0", "other | reads x0 | writes flags"},
	{0xd53b4400, "mrs x0, fpcr", "other | reads fpcr | writes x0"},
	{0xd51b4421, "msr fpsr, x1", "other | reads x1 fpcr | writes fpcr"},
	{0xd53bd042, "mrs x2, tpidr_el0", "other | writes x2"},
	{0xd53b2400, "mrs x0, rndr", "other | writes x0 flags"},
	{0xd50342df, "msr daifset, #2", "other"},
	{0xd50b7423, "dc zva, x3", "other | reads x3"},
	{0xd503477f, "smstart", "other | reads p0-15 ffr v0-31 | writes p0-15 ffr v0-31"},
	{0xd5031001, "wfet x1", "other | reads x1"},
	{0xf9400420, "ldr x0, [x1, #8]", "load | load8 dst=x0 a=x1 0x8 | reads x1 | writes x0"},
	{0xf940003f, "ldr xzr, [x1]", "load | load8 a=x1 | reads x1"},
	{0x394007e0, "ldrb w0, [sp, #1]", "load | load1 dst=x0 a=sp 0x1 | reads sp | writes x0"},
	{0x39800420, "ldrsb x0, [x1, #1]",
	 "load signed | load1 dst=x0 a=x1 0x1 | reads x1 | writes x0"},
	{0xb9800420, "ldrsw x0, [x1, #4]",
	 "load signed | load4 dst=x0 a=x1 0x4 | reads x1 | writes x0"},
	{0xb900045f, "str wzr, [x2, #4]", "store | store4 a=x2 0x4 | reads x2"},
	{0x79000441, "strh w1, [x2, #2]", "store | store2 dst=x1 a=x2 0x2 | reads x1-2"},
	{0xf85f8020, "ldur x0, [x1, #-8]", "load | load8 dst=x0 a=x1 -0x8 | reads x1 | writes x0"},
	{0xf84107e0, "ldr x0, [sp], #16",
	 "load | load8 dst=x0 a=sp 0x10 post | sp+16 | reads sp | writes x0 sp"},
	{0xf81f0fe0, "str x0, [sp, #-16]!",
	 "store | store8 dst=x0 a=sp -0x10 pre | sp-16 | reads x0 sp | writes sp"},
	{0x78c02c20, "ldrsh w0, [x1, #2]!",
	 "load signed | load2 dst=x0 a=x1 0x2 pre | reads x1 | writes x0-1"},
	{0xf8627820, "ldr x0, [x1, x2, lsl #3]",
	 "load | load8 dst=x0 a=x1 b=x2 <<3 | reads x1-2 | writes x0"},
	{0xb8625820, "ldr w0, [x1, w2, uxtw #2]",
	 "load | load4 dst=x0 a=x1 b=x2 u32 <<2 | reads x1-2 | writes x0"},
	{0x3862c820, "ldrb w0, [x1, w2, sxtw]",
	 "load | load1 dst=x0 a=x1 b=x2 s32 | reads x1-2 | writes x0"},
	{0xf8226820, "str x0, [x1, x2]", "store | store8 dst=x0 a=x1 b=x2 | reads x0-2"},
	{0x58000200, "ldr x0, .+0x40", "load | load8 dst=x0 0x10000040 | writes x0"},
	{0x98fffe01, "ldrsw x1, .-0x40", "load signed | load4 dst=x1 0xfffffc0 | writes x1"},
	{0x5c000040, "ldr d0, .+8", "load | writes v0"},
	{0xa8c27bfd, "ldp x29, x30, [sp], #32",
	 "load | load-pair8 dst=x29 dst2=x30 a=sp 0x20 post | sp+32 | reads sp | writes x29-30 sp"},
	{0xa9be7bfd, "stp x29, x30, [sp, #-32]!",
	 "store | store-pair8 dst=x29 dst2=x30 a=sp -0x20 pre | sp-32 | reads x29-30 sp | writes "
	 "sp"},
	{0x29410861, "ldp w1, w2, [x3, #8]",
	 "load | load-pair4 dst=x1 dst2=x2 a=x3 0x8 | reads x3 | writes x1-2"},
	{0x69410861, "ldpsw x1, x2, [x3, #8]",
	 "load signed | load-pair4 dst=x1 dst2=x2 a=x3 0x8 | reads x3 | writes x1-2"},
	{0xa93f045f, "stp xzr, x1, [x2, #-16]",
	 "store | store-pair8 dst2=x1 a=x2 -0x10 | reads x1-2"},
	{0xf87ffc20, "ldraa x0, [x1, #-8]!",
	 "load | load8 dst=x0 a=x1 -0x8 pre | reads x1 | writes x0-1"},
	{0xc85f7c20, "ldxr x0, [x1]", "atomic exclusive-begin | reads x1 | writes x0"},
	{0xc800fc41, "stlxr w0, x1, [x2]", "atomic exclusive-end | reads x1-2 | writes x0"},
	{0xc87f8440, "ldaxp x0, x1, [x2]", "atomic exclusive-begin | reads x2 | writes x0-1"},
	{0xc8250861, "stxp w5, x1, x2, [x3]", "atomic exclusive-end | reads x1-3 | writes x5"},
	{0xd5033f5f, "clrex", "other exclusive-end"},
	{0xc8dffc20, "ldar x0, [x1]", "load | load8 dst=x0 a=x1 | reads x1 | writes x0"},
	{0x089ffc20, "stlrb w0, [x1]", "store | store1 dst=x0 a=x1 | reads x0-1"},
	{0xf8bfc020, "ldapr x0, [x1]", "load | load8 dst=x0 a=x1 | reads x1 | writes x0"},
	{0x999fc020, "ldapursw x0, [x1, #-4]",
	 "load signed | load4 dst=x0 a=x1 -0x4 | reads x1 | writes x0"},
	{0xc8a07c41, "cas x0, x1, [x2]", "atomic | reads x0-2 | writes x0"},
	{0x48207c82, "casp x0, x1, x2, x3, [x4]", "atomic | reads x0-4 | writes x0-1"},
	{0xb82003e1, "ldadd w0, w1, [sp]", "atomic | reads x0 sp | writes x1"},
	{0xf8e08041, "swpal x0, x1, [x2]", "atomic | reads x0 x2 | writes x1"},
	{0xf820003f, "stadd x0, [x1]", "atomic | reads x0-1"},
	{0xf83fd100, "ld64b x0, [x8]", "atomic | reads x8 | writes x0-7"},
	{0xf9800420, "prfm pldl1keep, [x1, #8]", "other | reads x1"},
	{0xf8a26820, "prfm pldl1keep, [x1, x2]", "other | reads x1-2"},
	{0xd92027ff, "stg sp, [sp], #32", "store | sp+32 | reads sp | writes sp"},
	{0xd9600020, "ldg x0, [x1]", "load | reads x0-1 | writes x0"},
	{0x69bf07e0, "stgp x0, x1, [sp, #-32]!", "store | sp-32 | reads x0-1 sp | writes sp"},
	{0x19010440, "cpyfp [x0]!, [x1]!, x2!", "store | reads x0-2 | writes x0-2 flags"},
	{0x19c24420, "setm [x0]!, x1!, x2", "store | reads x0-2 flags | writes x0-1 flags"},
	{0x3cc107e0, "ldr q0, [sp], #16", "load | sp+16 | reads sp | writes sp v0"},
	{0x6dbc27e8, "stp d8, d9, [sp, #-64]!", "store | sp-64 | reads sp v8-9 | writes sp"},
	{0x4cdf23fe, "ld1 {v30.16b, v31.16b, v0.16b, v1.16b}, [sp], #64",
	 "load | sp+64 | reads sp | writes sp v0-1 v30-31"},
	{0x4cc17800, "ld1 {v0.4s}, [x0], x1", "load | reads x0-1 | writes x0 v0"},
	{0x0ddf93e0, "ld1 {v0.s}[1], [sp], #4", "load | sp+4 | reads sp v0 | writes sp v0"},
	{0x0dffe3e0, "ld4r {v0.8b-v3.8b}, [sp], #4", "load | sp+4 | reads sp | writes sp v0-3"},
	{0x4c004400, "st3 {v0.8h-v2.8h}, [x0]", "store | reads x0 v0-2"},
	{0x9e670020, "fmov d0, x1", "float | reads x1 | writes v0"},
	{0x9eaf0020, "fmov v0.d[1], x1", "float | reads x1 v0 | writes v0"},
	{0x1e622820, "fadd d0, d1, d2", "float | reads v1-2 | writes v0"},
	{0x1f020c20, "fmadd s0, s1, s2, s3", "float | reads v1-3 | writes v0"},
	{0x1e612000, "fcmp d0, d1", "float | reads v0-1 | writes flags"},
	{0x1e202008, "fcmp s0, #0.0", "float | reads v0 | writes flags"},
	{0x1e611400, "fccmp d0, d1, #0, ne", "float | reads flags v0-1 | writes flags"},
	{0x1e62bc20, "fcsel d0, d1, d2, lt", "float | reads flags v1-2 | writes v0"},
	{0x1e7e0020, "fjcvtzs w0, d1", "float | reads v1 | writes x0 flags"},
	{0x9e620020, "scvtf d0, x1", "float | reads x1 | writes v0"},
	{0x9e780020, "fcvtzs x0, d1", "float | reads v1 | writes x0"},
	{0x4ea28420, "add v0.4s, v1.4s, v2.4s", "simd | reads v1-2 | writes v0"},
	{0x4e22cc20, "fmla v0.4s, v1.4s, v2.4s", "simd | reads v0-2 | writes v0"},
	{0x6e621c20, "bsl v0.16b, v1.16b, v2.16b", "simd | reads v0-2 | writes v0"},
	{0x0e212820, "xtn v0.8b, v1.8h", "simd | reads v1 | writes v0"},
	{0x4e212820, "xtn2 v0.16b, v1.8h", "simd | reads v0-1 | writes v0"},
	{0x4e0223e0, "tbl v0.16b, {v31.16b, v0.16b}, v2.16b", "simd | reads v0 v2 v31 | writes v0"},
	{0x4e021020, "tbx v0.16b, {v1.16b}, v2.16b", "simd | reads v0-2 | writes v0"},
	{0x4e0c1c20, "mov v0.s[1], w1", "simd | reads x1 v0 | writes v0"},
	{0x0e0c3c20, "umov w0, v1.s[1]", "simd | reads v1 | writes x0"},
	{0x4e040c20, "dup v0.4s, w1", "simd | reads x1 | writes v0"},
	{0x4f000420, "movi v0.4s, #1", "simd | writes v0"},
	{0x4f001420, "orr v0.4s, #1", "simd | reads v0 | writes v0"},
	{0x4f3f1020, "fmla v0.8h, v1.8h, v15.h[3]", "simd | reads v0-1 v15 | writes v0"},
	{0x6f3d4420, "sri v0.4s, v1.4s, #3", "simd | reads v0-1 | writes v0"},
	{0x4e284820, "aese v0.16b, v1.16b", "simd | reads v0-1 | writes v0"},
	{0x4e286820, "aesmc v0.16b, v1.16b", "simd | reads v1 | writes v0"},
	{0x5e024020, "sha256h q0, q1, v2.4s", "simd | reads v0-2 | writes v0"},
	{0x4e829420, "sdot v0.4s, v1.16b, v2.16b", "simd | reads v0-2 | writes v0"},
	{0x6e42ec20, "bfmmla v0.4s, v1.8h, v2.8h", "simd | reads v0-2 | writes v0"},
	{0x04800440, "add z0.s, p1/m, z0.s, z2.s", "simd | reads p1 v0 v2 | writes v0"},
	{0x04a20020, "add z0.s, z1.s, z2.s", "simd | reads v1-2 | writes v0"},
	{0x04902440, "movprfx z0.s, p1/z, z2.s", "simd | reads p1 v2 | writes v0"},
	{0x04912440, "movprfx z0.s, p1/m, z2.s", "simd | reads p1 v0 v2 | writes v0"},
	{0x05a2e420, "sel z0.s, p9, z1.s, z2.s", "simd | reads p9 v1-2 | writes v0"},
	{0x0420e3e0, "cntb x0", "integer | writes x0"},
	{0x04f1e3e1, "incd x1, all, mul #2", "integer | reads x1 | writes x1"},
	{0x043f57ff, "addvl sp, sp, #-1", "integer | sp ? | reads sp | writes sp"},
	{0x04bf5020, "rdvl x0, #1", "integer | writes x0"},
	{0x25a20c20, "whilelo p0.s, w1, w2", "simd | reads x1-2 | writes flags p0"},
	{0x2550c440, "ptest p1, p2.b", "simd | reads p1-2 | writes flags"},
	{0x2518e3e3, "ptrue p3.b", "simd | writes p3"},
	{0x2519e3e3, "ptrues p3.b", "simd | writes flags p3"},
	{0x2483a440, "cmpeq p0.s, p1/z, z2.s, z3.s", "simd | reads p1 v2-3 | writes flags p0"},
	{0x65836440, "fcmeq p0.s, p1/z, z2.s, z3.s", "simd | reads p1 v2-3 | writes p0"},
	{0x25184440, "brkn p0.b, p1/z, p2.b, p0.b", "simd | reads p0-2 | writes p0"},
	{0x25104450, "brka p0.b, p1/m, p2.b", "simd | reads p0-2 | writes p0"},
	{0x2519f000, "rdffr p0.b", "simd | reads ffr | writes p0"},
	{0x252c9000, "setffr", "simd | writes ffr"},
	{0xa5434440, "ld1w {z0.s}, p1/z, [x2, x3, lsl #2]", "load | reads x2-3 p1 | writes v0"},
	{0xc5c3e440, "ldff1d {z0.d}, p1/z, [x2, z3.d]",
	 "load | reads x2 p1 ffr v3 | writes ffr v0"},
	{0xa540e3ff, "ld3w {z31.s, z0.s, z1.s}, p0/z, [sp]",
	 "load | reads sp p0 | writes v0-1 v31"},
	{0xe401e440, "st1b {z0.b}, p1, [x2, #1, mul vl]", "store | reads x2 p1 v0"},
	{0xe541a440, "st1w {z0.d}, p1, [z2.d, #4]", "store | reads p1 v0 v2"},
	{0x858007e5, "ldr p5, [sp, #1, mul vl]", "load | reads sp | writes p5"},
	{0xe5804025, "str z5, [x1]", "store | reads x1 v5"},
	{0x65a30440, "fmla z0.s, p1/m, z2.s, z3.s", "simd | reads p1 v0 v2-3 | writes v0"},
	{0x65d82440, "fadda d0, p1, d0, z2.d", "simd | reads p1 v0 v2 | writes v0"},
	{0x05a0a440, "lasta w0, p1, z2.s", "simd | reads p1 v2 | writes x0"},
	{0x05f0a440, "clasta x0, p1, x0, z2.d", "simd | reads x0 p1 v2 | writes x0"},
	{0x05a43820, "insr z0.s, w1", "simd | reads x1 v0 | writes v0"},
	{0x25288820, "sqincp x0, p1.b, w0", "integer | reads x0 p1 | writes x0"},
	{0x25e12000, "ctermeq x0, x1", "simd | reads x0-1 flags | writes flags"},
	{0x253c4861, "psel p1, p2, p3.b[w12, #3]", "simd | reads x12 p2-3 | writes p1"},
	{0x80832040, "fmopa za0.s, p0/m, p1/m, z2.s, z3.s", "simd | reads p0-1 v2-3"},
	{0xc0022420, "mova z0.b, p1/m, za0h.b[w13, #1]", "simd | reads x13 p1 v0 | writes v0"},
	{0xe002c7e2, "ld1b {za0v.b[w14, #2]}, p1/z, [sp, x2]", "load | reads x2 x14 sp p1"},
	{0x11c3f420, "smax w0, w1, #-3", "integer | reads x1 | writes x0"},
	{0xdac02020, "abs x0, x1", "integer | reads x1 | writes x0"},
};

static void test_fields(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct text got = TEXT_INIT;
		struct insn in;
		assert_int_equal(decode_word(rows[i].word, DECODE_FULL, &in), 4);
		describe(&got, &in);
		if (strcmp(got.data, rows[i].expected) != 0)
			fail_msg("%s is\n\t%s\nnot\n\t%s", rows[i].assembly, got.data,
				 rows[i].expected);
		text_release(&got);
	}
}

/* Reserved encodings. */
static const struct {
	uint32_t word;
	const char *why;
} undefined[] = {
	{0xffffffff, "nothing is there"},
	{0x8bc00000, "add of a rotated register"},
	{0x0b008000, "add w, lsl #32"},
	{0x8b201400, "add of an extended register shifted by 5"},
	{0x12400000, "and w with a 64-bit mask"},
	{0x9240fc00, "and x with all ones"},
	{0x52c00000, "movz w, lsl #32"},
	{0x53400000, "ubfm w with bit 22"},
	{0x1ac04c00, "crc32x with 32 bits"},
	{0xd4000000, "exception of no kind"},
	{0xd61f0001, "br with bits behind the register"},
	{0xb8c00000, "ldursw into 32 bits"},
	{0x08217c00, "casp of odd registers"},
	{0x69410040, "ldpsw of one register twice"},
	{0x19000400, "cpyfp with one register for all"},
	{0x0c400c00, "ld4 of single doublewords"},
	{0x1e800000, "floating point of type 2"},
	{0x0ee08400, "add of one doubleword"},
	{0x0e000400, "dup of no size"},
	{0x04c02000, "saddv of doublewords"},
	{0x050007e0, "SVE orr with no mask"},
	{0x65000000, "fadd of bytes"},
	{0xa51f4000, "ld1w with index 31"},
};

static void test_undefined(void **state)
{
	struct insn in;
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(undefined); i++)
		if (decode_word(undefined[i].word, DECODE_FULL, &in))
			fail_msg("%08x is an instruction: %s", undefined[i].word, undefined[i].why);
}

static void test_too_short(void **state)
{
	struct insn in;
	(void)state;
	for (size_t n = 0; n < 4; n++) {
		uint8_t *nop = xcalloc(1, n + 1);
		assert_int_equal(arch_a64.decode(nop, n, PC, DECODE_FULL, &in), 0);
		free(nop);
	}
}

static uint32_t random_word(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 32);
}

/* A word of a random rule: of random words, too few are of the rarer rules. */
static uint32_t random_insn(uint64_t *seed)
{
	uint32_t count;
	const struct a64_rule *all = a64_all_rules(&count);
	const struct a64_rule *r = &all[random_word(seed) % count];
	return (random_word(seed) & ~r->mask) | r->value;
}

static void test_flow_is_part_of_full(void **state)
{
	uint64_t seed = 1;
	const uint8_t full_only = INSN_SIGNED | INSN_COMPARES | INSN_PC_RELATIVE;
	(void)state;
	for (int i = 0; i < 200000; i++) {
		uint32_t word = i & 1 ? random_word(&seed) : random_insn(&seed);
		struct insn flow, full;
		size_t length = decode_word(word, DECODE_FLOW, &flow);
		assert_int_equal(length, decode_word(word, DECODE_FULL, &full));
		if (length == 0)
			continue;
		assert_int_equal(length, 4);
		assert_int_equal(flow.length, 4);
		assert_int_equal(flow.pc, full.pc);
		assert_int_equal(flow.target, full.target);
		assert_int_equal(flow.kind, full.kind);
		assert_int_equal(flow.class, full.class);
		assert_int_equal(flow.flags & ~full_only, full.flags & ~full_only);
	}
}

static bool is_store(const struct insn *in)
{
	return in->op == OP_STORE || in->op == OP_STORE_PAIR;
}

/* Operands must be in the sets, and the stack pointer moves only if it is written. */
static void check_consistent(uint32_t word, const struct insn *in)
{
	const struct regset *sets[] = {is_store(in) ? &in->reads : &in->writes,
				       is_store(in) ? &in->reads : &in->writes, &in->reads,
				       &in->reads};
	uint8_t operands[] = {in->dst, in->dst2, in->a, in->b};

	for (size_t i = 0; i < ARRAY_SIZE(operands); i++)
		if (operands[i] != REG_NONE &&
		    (operands[i] > arch_a64.sp || !regset_has(sets[i], operands[i])))
			fail_msg("%08x: operand %zu is not in its set", word, i);
	if (in->stack_known && in->stack != 0 && !regset_has(&in->writes, arch_a64.sp))
		fail_msg("%08x moves the stack pointer without writing it", word);
	if (in->writeback != WRITEBACK_NONE && !regset_has(&in->writes, in->a))
		fail_msg("%08x moves its base without writing it", word);
	if ((in->reads.core | in->writes.core) >> (A64_FPCR + 1))
		fail_msg("%08x uses a register that does not exist", word);
	if (in->kind >= INSN_KINDS || in->class >= INSN_CLASSES || in->op > OP_TEST)
		fail_msg("%08x is of no kind", word);
}

static void test_random(void **state)
{
	uint64_t seed = 2;
	(void)state;
	for (int i = 0; i < 400000; i++) {
		uint32_t word = i & 1 ? random_word(&seed) : random_insn(&seed);
		struct insn in;
		if (decode_word(word, DECODE_FULL, &in))
			check_consistent(word, &in);
	}
}

static void test_rows_parse(void **state)
{
	static const struct a64_row *const tables[] = {a64_rows_base, a64_rows_memory,
						       a64_rows_simd, a64_rows_sve, a64_rows_sme};
	struct a64_rule rule;
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		for (const struct a64_row *r = tables[i]; r->pattern; r++)
			if (!a64_parse_row(r, &rule))
				fail_msg("row \"%s\" is malformed", r->pattern);
}

static void test_bad_patterns(void **state)
{
	static const char *const bad[] = {
		"",
		"0000000000000000000000000000000",       /* 31 bits */
		"000000000000000000000000000000000",     /* 33 */
		"xxxxxxxxxxxxxxxxxxxxxxxxxxxyyyyy",      /* no such letter */
		"rrrrr x2 xxxxxxxxxxxxxxxxxxxxxxxxx",    /* of a field before */
		"rrrrrr xxxxxxxxxxxxxxxxxxxxxxxxxx",     /* a register of 6 bits */
		"2xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",      /* a count of nothing */
		"xxxxxxx rrrrr rrrrr rrrrr rrrrr rrrrr", /* more fields than there is room for */
	};
	struct a64_rule rule;
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(a64_parse_row(&(struct a64_row){.pattern = bad[i]}, &rule));
}

static bool overlap(const struct a64_rule *a, const struct a64_rule *b)
{
	return ((a->value ^ b->value) & a->mask & b->mask) == 0;
}

static bool strict_subset(const struct a64_rule *a, const struct a64_rule *b)
{
	return (a->mask & b->mask) == b->mask && a->mask != b->mask;
}

/* A hole in front of `b` holds all words that match both. */
static bool hole_between(const struct a64_rule *all, uint32_t a, uint32_t b)
{
	uint32_t mask = all[a].mask | all[b].mask, value = all[a].value | all[b].value;
	for (uint32_t h = 0; h < b; h++)
		if (all[h].form == UNDEFINED && (all[h].mask & ~mask) == 0 &&
		    (value & all[h].mask) == all[h].value)
			return true;
	return false;
}

/* No word has two meanings: of two rules that both match one, one is a hole, or the first is an
 * exception to the second, or the second has a hole there. */
static void test_rows_are_ordered(void **state)
{
	uint32_t count;
	const struct a64_rule *all = a64_all_rules(&count);
	(void)state;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = i + 1; j < count; j++)
			if (overlap(&all[i], &all[j]) && all[i].form != UNDEFINED &&
			    all[j].form != UNDEFINED && !strict_subset(&all[i], &all[j]) &&
			    !hole_between(all, i, j))
				fail_msg("rules %08x/%08x and %08x/%08x overlap", all[i].value,
					 all[i].mask, all[j].value, all[j].mask);
}

/* Every rule is the first one for some word, or it says nothing. */
static void test_rows_are_reachable(void **state)
{
	uint32_t count;
	const struct a64_rule *all = a64_all_rules(&count);
	uint64_t seed = 3;
	(void)state;
	for (uint32_t i = 0; i < count; i++) {
		bool found = all[i].form == UNDEFINED;
		for (int tries = 0; tries < 1000 && !found; tries++)
			found = a64_rule(a64_find((random_word(&seed) & ~all[i].mask) |
						  all[i].value)) == &all[i];
		if (!found)
			fail_msg("rule %08x/%08x is never used", all[i].value, all[i].mask);
	}
}

/* NULL if there is none or it is a hole. */
static const struct a64_rule *search(uint32_t word)
{
	uint32_t count;
	const struct a64_rule *all = a64_all_rules(&count);
	for (uint32_t i = 0; i < count; i++)
		if ((word & all[i].mask) == all[i].value)
			return all[i].form == UNDEFINED ? NULL : &all[i];
	return NULL;
}

static void test_index_finds_the_first(void **state)
{
	uint64_t seed = 4;
	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint32_t word = i & 1 ? random_word(&seed) : random_insn(&seed);
		const struct a64_match *m = a64_find(word);
		assert_ptr_equal(m->form == UNDEFINED ? NULL : a64_rule(m), search(word));
	}
}

static void *decode_nop(void *count)
{
	struct insn in;
	*(size_t *)count = decode_word(0xd503201f, DECODE_FULL, &in);
	return NULL;
}

/* Runs first: the tables are built by whichever thread comes first. */
static void test_threads(void **state)
{
	pthread_t threads[8];
	size_t lengths[8];
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, decode_nop, &lengths[i]), 0);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(lengths[i], 4);
	}
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(arch_a64.reg_name(0), "x0");
	assert_string_equal(arch_a64.reg_name(arch_a64.sp), "sp");
	assert_string_equal(arch_a64.reg_name(REG_FLAGS), "nzcv");
	assert_string_equal(arch_a64.reg_name(REG_NONE), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_undefined),
		cmocka_unit_test(test_too_short),
		cmocka_unit_test(test_flow_is_part_of_full),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_rows_parse),
		cmocka_unit_test(test_bad_patterns),
		cmocka_unit_test(test_rows_are_ordered),
		cmocka_unit_test(test_rows_are_reachable),
		cmocka_unit_test(test_index_finds_the_first),
		cmocka_unit_test(test_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
