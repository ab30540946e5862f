/* A64 instructions as rows of data.
 *
 * A row's pattern is the 32 bits of the encoding, highest first, as Arm's manual prints them.
 * Blanks only separate fields. The characters are
 *
 *	0 1  fixed bits                      x  any value
 *
 * and letters for register fields, which say what the instruction does with the register:
 *
 *	r w u  general register, 31 is zero: read, written, both
 *	b s B  general register, 31 is the stack pointer: read, written, both
 *	k      general register 12 + field: read (SME slice index)
 *	v V A  vector register: read, written, both (accumulated or written in part)
 *	p P Q  predicate register: read, written, both
 *
 * A field that ends in a digit 2, 3, 4 or 8 (which takes the place of the field's last bit) names
 * that many consecutive registers, modulo 32. So "VVVV3" is a five-bit field: three vectors
 * written.
 *
 * Rows are tried in order. Two rows may match the same word only if one of them is UNDEFINED (a
 * hole), or such a hole precedes the later one, or the earlier one matches a strict subset of the
 * later one's words (an exception). The unit test proves this for every pair. */
#pragma once
#include <stdint.h>

/* What the instruction does, as far as an analysis needs it. forms.c gives each form its kind,
 * flags and functions. */
enum a64_form {
	PLAIN, /* only its registers matter */
	UNDEFINED,
	TRAP,
	NOP,
	ADR,
	ADRP,
	ADD_IMM, /* and sub, adds, subs */
	ADD_SHIFTED,
	ADD_EXTENDED,
	LOGIC_IMM,
	LOGIC_SHIFTED,
	SVE_LOGIC_IMM,
	MOVN,
	MOVZ,
	UBFM,
	SBFM,
	JUMP,
	CALL,
	BRANCH_FLAGS,
	JUMP_ALWAYS, /* b.al */
	BRANCH_ZERO,
	BRANCH_BIT,
	JUMP_REG,
	CALL_REG,
	RETURN,
	RETURN_CHECKED, /* retaa */
	SYSCALL,
	BTI_CALL,
	BTI_JUMP,
	SIGN, /* signs the link register */
	SIGN_LAND,
	CHECK,
	EXCLUSIVE_LOAD,
	EXCLUSIVE_END, /* store, clrex */
	LOAD_LITERAL,
	MEM_BASE,   /* [Xn]: size in 31:30, load in 22 */
	MEM_SCALED, /* [Xn, #imm12 << size] */
	MEM_UNSCALED,
	MEM_PRE,
	MEM_POST,
	MEM_REG, /* [Xn, Rm, extend #shift] */
	PAIR,
	PAIR_PRE,
	PAIR_POST,
	PAIR_SIGNED, /* ldpsw */
	PAIR_SIGNED_PRE,
	PAIR_SIGNED_POST,
	MEMORY_COPY, /* cpy, set: registers must differ */
	LOAD_AUTH,   /* ldraa [Xn, #imm10 << 3] */
	LOAD_AUTH_PRE,
	VMEM_PRE, /* the same for vector registers: only the update of the base matters */
	VMEM_POST,
	VPAIR_PRE,
	VPAIR_POST,
	STRUCT_POST,      /* ld1-ld4, st1-st4 of whole registers */
	STRUCT_LANE_POST, /* of one lane or replicated */
	TAG_PRE,
	TAG_POST,
	TAG_PAIR_PRE,
	TAG_PAIR_POST,
	A64_FORMS,
};

/* Registers that the instruction uses without a field for them. */
enum a64_implied {
	FLAGS_R = 1 << 0,
	FLAGS_W = 1 << 1,
	LINK_R = 1 << 2,
	LINK_W = 1 << 3,
	SP_R = 1 << 4,
	X16_R = 1 << 5,
	X17_R = 1 << 6,
	X17_W = 1 << 7,
	X17_RW = X17_R | X17_W,
	FFR_R = 1 << 8,
	FFR_W = 1 << 9,
	FPCR_R = 1 << 10, /* FPCR and FPSR are one register to us */
	FPCR_W = 1 << 11,
	KERNEL = 1 << 12,   /* the registers of a system call */
	FIRMWARE = 1 << 13, /* the registers of a hypervisor or secure monitor call */
	X16_W = 1 << 14,
	VECTORS_RW = 1 << 15, /* all vectors and predicates: streaming mode begins or ends */
	FLAGS_RW = FLAGS_R | FLAGS_W,
	LINK_RW = LINK_R | LINK_W,
	FFR_RW = FFR_R | FFR_W,
};

struct a64_row {
	const char *pattern; /* NULL ends a table */
	uint8_t class;       /* enum insn_class */
	uint8_t form;        /* enum a64_form */
	uint16_t implied;    /* enum a64_implied */
};

extern const struct a64_row a64_rows_base[];   /* data processing, branches, system */
extern const struct a64_row a64_rows_memory[]; /* loads and stores, atomics, tags, memory copy */
extern const struct a64_row a64_rows_simd[];   /* floating point, Advanced SIMD, cryptography */
extern const struct a64_row a64_rows_sve[];    /* SVE, SVE2 */
extern const struct a64_row a64_rows_sme[];    /* SME */
