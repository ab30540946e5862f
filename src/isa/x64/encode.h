/* Writing x86-64 code: the few instruction forms that moved instructions and probes need. All
 * operate on 64 bits (with REX.W, which forms that have no other size ignore). */
#pragma once
#include "isa/emit.h"

enum {
	X64_ADD_TO = 0x01,  /* r/m += reg */
	X64_ADD = 0x03,     /* reg += r/m */
	X64_SUB = 0x2b,     /* reg -= r/m */
	X64_XOR = 0x33,     /* reg ^= r/m */
	X64_COMPARE = 0x39, /* flags of r/m - reg */
	X64_TEST = 0x85,
	X64_STORE = 0x89, /* r/m = reg */
	X64_LOAD = 0x8b,  /* reg = r/m */
	X64_LEA = 0x8d,
	X64_POP_MEMORY = 0x8f, /* reg is 0 */
	X64_PUSH_FLAGS = 0x9c,
	X64_POP_FLAGS = 0x9d,
	X64_SHIFT = 0xc1, /* followed by 8 bits; the reg field selects the operation: */
	X64_SHIFT_LEFT = 4,
	X64_SHIFT_RIGHT = 5,
	X64_SET = 0xc7, /* r/m = the 32 bits that follow; reg is 0 */
	X64_UNARY = 0xf7,
	X64_UNARY_NOT = 2,
	X64_ONE = 0xff, /* the reg field selects the operation: */
	X64_ONE_INC = 0,
	X64_ONE_CALL = 2,
	X64_ONE_JUMP = 4,
	X64_ONE_PUSH = 6,
	X64_VECTOR_FROM_GENERAL = 0x6e, /* vector form: reg = r/m, a general register */
	X64_VECTOR_TO_GENERAL = 0x7e,   /* vector form: r/m, a general register, = reg */
	X64_VECTOR_ADD = 0xd4,          /* reg += r/m, 64 bits each */
	X64_VECTOR_XOR = 0xef,
	X64_JE32 = 0x84, /* after 0f */
	X64_JNE32 = 0x85,
	X64_JS32 = 0x88,
	X64_JNS32 = 0x89,
	X64_JUMP8 = 0xeb,   /* rel8 */
	X64_NOTRACK = 0x3e, /* prefix: the target needs no endbr64 */
	X64_RED_ZONE = 128, /* bytes below the stack pointer that programs may use */
};

void x64_put_word(uint8_t *out, uint32_t word);
void x64_byte(struct emit *e, unsigned byte);
void x64_word(struct emit *e, uint32_t word);
/* Appends the last four bytes of an instruction: the distance from its end to `to`. */
void x64_distance(struct emit *e, struct emit_target to);

void x64_registers_form(struct emit *e, uint8_t opcode, unsigned reg, unsigned rm);
void x64_memory_form(struct emit *e, uint8_t opcode, unsigned reg, unsigned base, int32_t disp);
/* With memory at base + (index << shift) + disp; base may be REG_NONE. */
void x64_indexed_form(struct emit *e, uint8_t opcode, unsigned reg, unsigned base, unsigned index,
		      unsigned shift, int32_t disp);
/* With the constant that has this label as the memory operand. */
void x64_literal_form(struct emit *e, uint8_t opcode, unsigned reg, uint32_t label);
/* The same for 128-bit vectors. */
void x64_vectors_form(struct emit *e, uint8_t opcode, unsigned reg, unsigned rm);
void x64_vector_literal_form(struct emit *e, uint8_t opcode, unsigned reg, uint32_t label);
void x64_push(struct emit *e, unsigned reg);
void x64_pop(struct emit *e, unsigned reg);
/* Moves the stack pointer without changing the flags. */
void x64_move_stack(struct emit *e, int32_t by);

/* Appends a short jump forward. Its target is where x64_land() is called with the result. */
uint32_t x64_skip(struct emit *e, uint8_t opcode);
void x64_land(struct emit *e, uint32_t skip);

/* Sets the register, and changes nothing else. */
void x64_set_register(struct emit *e, unsigned reg, uint64_t value);
/* reg = the lowest 8, 16 or 32 bits of `from`. */
void x64_zero_extend(struct emit *e, unsigned reg, unsigned from, unsigned bits);

bool x64_distance_fits(uint64_t from, uint64_t to);
void x64_go(struct emit *e, struct emit_target to);
void x64_jump_if(struct emit *e, uint8_t condition, struct emit_target to);
void x64_move(struct emit *e, const struct insn *in, const uint8_t *bytes);
void x64_branch(struct emit *e, const struct insn *in, const uint8_t *bytes,
		struct emit_target taken);
void x64_call(struct emit *e, const struct insn *in, const uint8_t *bytes, uint64_t return_pc);
bool x64_can_match(const struct insn *in, const uint8_t *bytes, const struct regset *free_set);
void x64_match(struct emit *e, const struct insn *in, const uint8_t *bytes,
	       const struct regset *free_set, const struct dispatch_target *targets,
	       uint32_t count);
void x64_probe(struct emit *e, const struct emit_probe *p);
/* The part of x64_probe() for probes with operations. */
void x64_operations(struct emit *e, const struct emit_probe *p);
void x64_aside(struct emit *e, const struct emit_aside *a);
uint32_t x64_restart(const uint8_t *code, uint32_t size, uint32_t at);
