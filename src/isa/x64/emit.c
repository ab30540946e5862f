/* Writing x86-64 code: jumps, and the instruction forms of encode.h. */
#include "isa/x64/encode.h"
#include "isa/x64/x64.h"

/* The only kind of fixup: a distance in the last four bytes of an instruction, relative to its
 * end. */
enum { FIX_DISTANCE };

enum { REX = 0x40, REX_W = 8, REX_R = 4, REX_X = 2, REX_B = 1 };

bool x64_distance_fits(uint64_t from, uint64_t to)
{
	int64_t distance = (int64_t)(to - from);
	return distance == (int32_t)distance;
}

void x64_put_word(uint8_t *out, uint32_t word)
{
	for (unsigned i = 0; i < 4; i++)
		out[i] = (uint8_t)(word >> 8 * i);
}

void x64_byte(struct emit *e, unsigned byte)
{
	emit_bytes(e, &(uint8_t){(uint8_t)byte}, 1);
}

void x64_word(struct emit *e, uint32_t word)
{
	uint8_t bytes[4];
	x64_put_word(bytes, word);
	emit_bytes(e, bytes, sizeof(bytes));
}

void x64_distance(struct emit *e, struct emit_target to)
{
	uint64_t end = emit_here(e) + 4;
	if (to.label != LABEL_NONE)
		vec_push(&e->fixups, (struct emit_fixup){e->bytes.len, to.label, FIX_DISTANCE});
	else if (!x64_distance_fits(end, to.pc))
		e->failed = true;
	x64_word(e, (uint32_t)(to.pc - end));
}

static void rex_opcode(struct emit *e, uint8_t opcode, unsigned reg, unsigned rm)
{
	x64_byte(e, REX | REX_W | (reg & 8 ? REX_R : 0u) | (rm & 8 ? REX_B : 0u));
	x64_byte(e, opcode);
}

static unsigned modrm(unsigned mod, unsigned reg, unsigned rm)
{
	return mod << 6 | (reg & 7) << 3 | (rm & 7);
}

void x64_registers_form(struct emit *e, uint8_t opcode, unsigned reg, unsigned rm)
{
	rex_opcode(e, opcode, reg, rm);
	x64_byte(e, modrm(3, reg, rm));
}

/* Always with a displacement: without one, rbp and r13 cannot be the base. */
void x64_memory_form(struct emit *e, uint8_t opcode, unsigned reg, unsigned base, int32_t disp)
{
	bool is_short = disp == (int8_t)disp;
	rex_opcode(e, opcode, reg, base);
	x64_byte(e, modrm(is_short ? 1 : 2, reg, base));
	if ((base & 7) == X64_RSP) /* also r12: this value means that a SIB byte follows */
		x64_byte(e, modrm(0, X64_RSP, base));
	if (is_short)
		x64_byte(e, (uint8_t)disp);
	else
		x64_word(e, (uint32_t)disp);
}

/* Always with a displacement, as above; without a base it has 32 bits. */
void x64_indexed_form(struct emit *e, uint8_t opcode, unsigned reg, unsigned base, unsigned index,
		      unsigned shift, int32_t disp)
{
	bool has_base = base != REG_NONE, is_short = has_base && disp == (int8_t)disp;
	unsigned rm = has_base ? base : X64_RBP;
	x64_byte(e, REX | REX_W | (reg & 8 ? REX_R : 0u) | (index & 8 ? REX_X : 0u) |
			    (rm & 8 ? REX_B : 0u));
	x64_byte(e, opcode);
	x64_byte(e, modrm(!has_base ? 0 : is_short ? 1 : 2, reg, X64_RSP));
	x64_byte(e, modrm(shift, index, rm));
	if (is_short)
		x64_byte(e, (uint8_t)disp);
	else
		x64_word(e, (uint32_t)disp);
	if (index == X64_RSP) /* rsp cannot be an index: it means none */
		e->failed = true;
}

void x64_literal_form(struct emit *e, uint8_t opcode, unsigned reg, uint32_t label)
{
	rex_opcode(e, opcode, reg, 0);
	x64_byte(e, modrm(0, reg, X64_RBP)); /* means relative to rip */
	x64_distance(e, (struct emit_target){.label = label});
}

/* The two operands of the older form and their result are three with AVX; moves have no second one.
 * Its fields are inverted. */
static void avx_opcode(struct emit *e, uint8_t opcode, unsigned reg, unsigned rm)
{
	bool moves = opcode == X64_VECTOR_FROM_GENERAL || opcode == X64_VECTOR_TO_GENERAL;
	unsigned second = moves ? 0 : reg;
	x64_byte(e, 0xc4);
	x64_byte(e, 0x41u | (reg & 8 ? 0 : 0x80u) | (rm & 8 ? 0 : 0x20u));
	x64_byte(e, 0x81u | (~second & 15) << 3);
	x64_byte(e, opcode);
}

/* 66, REX.W, 0f and the opcode. Most vector instructions ignore REX.W. */
static void vector_opcode(struct emit *e, uint8_t opcode, unsigned reg, unsigned rm)
{
	if (e->avx) {
		avx_opcode(e, opcode, reg, rm);
		return;
	}
	x64_byte(e, 0x66);
	rex_opcode(e, 0x0f, reg, rm);
	x64_byte(e, opcode);
}

void x64_vectors_form(struct emit *e, uint8_t opcode, unsigned reg, unsigned rm)
{
	vector_opcode(e, opcode, reg, rm);
	x64_byte(e, modrm(3, reg, rm));
}

void x64_vector_literal_form(struct emit *e, uint8_t opcode, unsigned reg, uint32_t label)
{
	vector_opcode(e, opcode, reg, 0);
	x64_byte(e, modrm(0, reg, X64_RBP));
	x64_distance(e, (struct emit_target){.label = label});
}

static void one_register(struct emit *e, unsigned opcode, unsigned reg)
{
	if (reg & 8)
		x64_byte(e, REX | REX_B);
	x64_byte(e, opcode | (reg & 7));
}

void x64_set_register(struct emit *e, unsigned reg, uint64_t value)
{
	if ((uint32_t)value == value) {
		one_register(e, 0xb8, reg);
		x64_word(e, (uint32_t)value);
	} else if ((uint64_t)(int64_t)(int32_t)value == value) {
		x64_registers_form(e, X64_SET, 0, reg);
		x64_word(e, (uint32_t)value);
	} else {
		rex_opcode(e, (uint8_t)(0xb8 | (reg & 7)), 0, reg);
		x64_word(e, (uint32_t)value);
		x64_word(e, (uint32_t)(value >> 32));
	}
}

void x64_zero_extend(struct emit *e, unsigned reg, unsigned from, unsigned bits)
{
	x64_byte(e,
		 REX | (bits < 32 ? REX_W : 0u) | (reg & 8 ? REX_R : 0u) | (from & 8 ? REX_B : 0u));
	if (bits < 32)
		x64_byte(e, 0x0f);
	x64_byte(e, bits == 8 ? 0xb6 : bits == 16 ? 0xb7 : X64_LOAD);
	x64_byte(e, modrm(3, reg, from));
}

void x64_push(struct emit *e, unsigned reg)
{
	one_register(e, 0x50, reg);
}

void x64_pop(struct emit *e, unsigned reg)
{
	one_register(e, 0x58, reg);
}

void x64_move_stack(struct emit *e, int32_t by)
{
	x64_memory_form(e, X64_LEA, X64_RSP, X64_RSP, by);
}

uint32_t x64_skip(struct emit *e, uint8_t opcode)
{
	x64_byte(e, opcode);
	x64_byte(e, 0);
	return e->bytes.len;
}

void x64_land(struct emit *e, uint32_t skip)
{
	uint32_t distance = e->bytes.len - skip;
	if (distance > INT8_MAX)
		e->failed = true;
	e->bytes.data[skip - 1] = (uint8_t)distance;
}

/* A target out of reach is reached through a constant. With the notrack prefix, such an indirect
 * jump needs no endbr64 at its target, just as a direct jump does not. */
void x64_go(struct emit *e, struct emit_target to)
{
	if (to.label == LABEL_NONE && !x64_distance_fits(emit_here(e) + 5, to.pc)) {
		x64_byte(e, X64_NOTRACK);
		x64_literal_form(e, X64_ONE, X64_ONE_JUMP, emit_literal(e, to.pc, 0));
		return;
	}
	x64_byte(e, 0xe9);
	x64_distance(e, to);
}

void x64_jump_if(struct emit *e, uint8_t condition, struct emit_target to)
{
	x64_byte(e, 0x0f);
	x64_byte(e, condition);
	x64_distance(e, to);
}
