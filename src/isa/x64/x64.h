/* The parts of the x86-64 decoder.
 *
 * Zydis decodes. From its result, decode.c derives where control goes, class.c the class in an
 * instruction mix, regs.c the registers read and written, ops.c the value computed. shape.c caches
 * the results for whole families of encodings, because Zydis takes 150 ns per instruction. Writing
 * code is separate: see encode.h. */
#pragma once
#include <Zydis/Zydis.h>

#include "isa/arch.h"

/* General registers have the numbers of their encodings. */
enum x64_register {
	X64_RAX,
	X64_RCX,
	X64_RDX,
	X64_RBX,
	X64_RSP,
	X64_RBP,
	X64_RSI,
	X64_RDI,
	X64_R8,
	X64_R9,
	X64_R10,
	X64_R11,
	X64_R12,
	X64_R13,
	X64_R14,
	X64_R15,
	X64_K0 = 33,  /* .. 40: mask registers */
	X64_X87 = 50, /* x87 and MMX: stack, control, status and tags as one */
	X64_MXCSR = 51,
	X64_TILES = 52, /* AMX */
};

#define X64_BIT(reg) (UINT64_C(1) << (reg))

struct zinsn {
	ZydisDecodedInstruction i;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
};

enum x64_bank {
	BANK_NONE, /* not modelled: segments, control and debug registers, rip */
	BANK_CORE,
	BANK_VECTOR,
};

/* A register operand in our numbering. */
struct x64_reg {
	uint8_t bank;   /* enum x64_bank */
	uint8_t number; /* bit in regset.core or regset.vec */
	uint8_t bytes;  /* size of a general register: 1, 2, 4, 8 */
	bool high;      /* ah, ch, dh, bh */
};

/* Decodes with all operands; false if the bytes are not an instruction. */
bool x64_zydis(const uint8_t *p, size_t n, struct zinsn *z);

struct x64_reg x64_register(ZydisRegister r);

/* Whether the operand is memory that is accessed; an address that is only computed (lea) is not. */
bool x64_is_memory(const ZydisDecodedOperand *op);

uint8_t x64_class(const struct zinsn *z, enum insn_kind kind);
void x64_registers(const struct zinsn *z, struct insn *out);
/* Needs out->kind, out->reads and out->writes to be set. */
void x64_operation(const struct zinsn *z, struct insn *out);

/* Fills *out as for DECODE_FLOW and returns the instruction's length if one of the same shape was
 * decoded before. Returns 0 if Zydis has to decode it. */
size_t x64_shape_recall(const uint8_t *p, size_t n, uint64_t pc, struct insn *out);
/* Caches the result for the shape of the bytes at p, if the shape determines it. */
void x64_shape_learn(const uint8_t *p, const struct zinsn *z, const struct insn *in);
