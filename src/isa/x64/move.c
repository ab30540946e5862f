/* Moving x86-64 instructions.
 *
 * An instruction depends on its own address if it has an operand relative to rip, a relative
 * target, or is a call, which leaves a return address. All others are copied. A copied system call
 * leaves its new address in rcx, from where the kernel returns; programs do not read it. */
#include <string.h>

#include "isa/x64/encode.h"
#include "isa/x64/x64.h"

enum { MODRM_REG = 7 << 3, OPERAND_SIZE = 0x66 };

static void append_target(struct emit *e, const uint8_t *opcode, size_t n, struct emit_target to)
{
	emit_bytes(e, opcode, n);
	x64_distance(e, to);
}

/* The base register of the memory operand, if there is one. */
static ZydisRegister base_of(const struct zinsn *z)
{
	for (size_t k = 0; k < z->i.operand_count_visible; k++)
		if (z->op[k].type == ZYDIS_OPERAND_TYPE_MEMORY)
			return z->op[k].mem.base;
	return ZYDIS_REGISTER_NONE;
}

static void put_displacement(uint8_t *out, uint64_t disp)
{
	for (unsigned i = 0; i < 4; i++)
		out[i] = (uint8_t)(disp >> 8 * i);
}

/* Appends the `n` bytes of an instruction that ended at `end`. If its operand is relative to rip,
 * adjusts the displacement, which is `disp` bytes into the instruction and relative to its end,
 * after any immediate. With an address size of 32 bits (eip) the sum wraps around, so that any
 * displacement reaches. */
static void append_relative(struct emit *e, const struct zinsn *z, const uint8_t *bytes, size_t n,
			    size_t disp, uint64_t end)
{
	uint8_t copy[ZYDIS_MAX_INSTRUCTION_LENGTH];
	memcpy(copy, bytes, n);
	ZydisRegister base = base_of(z);
	if (base == ZYDIS_REGISTER_RIP || base == ZYDIS_REGISTER_EIP) {
		uint64_t target = end + (uint64_t)z->i.raw.disp.value;
		uint64_t here = emit_here(e) + n;
		if (z->i.raw.disp.size != 32 ||
		    (base == ZYDIS_REGISTER_RIP && !x64_distance_fits(here, target)))
			e->failed = true;
		else
			put_displacement(copy + disp, target - here);
	}
	emit_bytes(e, copy, n);
}

void x64_move(struct emit *e, const struct insn *in, const uint8_t *bytes)
{
	struct zinsn z;
	if (in->flags & INSN_NOP) {
		emit_bytes(e, bytes, in->length);
		return;
	}
	if (!x64_zydis(bytes, in->length, &z) || z.i.raw.imm[0].is_relative ||
	    in->kind == INSN_CALL_INDIRECT) {
		e->failed = true;
		return;
	}
	append_relative(e, &z, bytes, in->length, z.i.raw.disp.offset, in->pc + in->length);
}

/* jrcxz and the loop instructions reach only 127 bytes and have no inverse:
 *
 *		jrcxz 1f
 *		jmp 2f
 *	1:	jmp taken
 *	2: */
static void append_counting(struct emit *e, const struct zinsn *z, struct emit_target taken)
{
	if (z->i.attributes & ZYDIS_ATTRIB_HAS_ADDRESSSIZE) /* ecx instead of rcx */
		x64_byte(e, 0x67);
	uint32_t to_jump = x64_skip(e, z->i.opcode);
	uint32_t to_end = x64_skip(e, X64_JUMP8);
	x64_land(e, to_jump);
	x64_go(e, taken);
	x64_land(e, to_end);
}

static bool is_conditional_jump(const ZydisDecodedInstruction *i)
{
	return (i->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && i->opcode >> 4 == 7) ||
	       (i->opcode_map == ZYDIS_OPCODE_MAP_0F && i->opcode >> 4 == 8);
}

void x64_branch(struct emit *e, const struct insn *in, const uint8_t *bytes,
		struct emit_target taken)
{
	struct zinsn z;
	if (!x64_zydis(bytes, in->length, &z) || !z.i.raw.imm[0].is_relative) {
		e->failed = true;
		return;
	}
	if (is_conditional_jump(&z.i)) {
		uint8_t opcode[] = {0x0f, (uint8_t)(0x80 | (z.i.opcode & 15))};
		append_target(e, opcode, sizeof(opcode), taken);
	} else if (z.i.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && z.i.opcode >= 0xe0 &&
		   z.i.opcode <= 0xe3) {
		append_counting(e, &z, taken);
	} else if (z.i.mnemonic == ZYDIS_MNEMONIC_XBEGIN && z.i.raw.imm[0].size == 32) {
		append_target(e, (const uint8_t[]){0xc7, 0xf8}, 2, taken);
	} else {
		e->failed = true;
	}
}

/* Pushes the return address in one store: a signal handler or unwinder that looks in between sees
 * all of it or nothing, never half. */
static void push_return(struct emit *e, uint64_t return_pc)
{
	x64_literal_form(e, X64_ONE, X64_ONE_PUSH, emit_literal(e, return_pc, 0));
}

/* Copies the call's prefixes and opcode, but not the prefix 66: calls ignore it, the instructions
 * made from them do not. */
static size_t copy_head(uint8_t *out, const struct zinsn *z, const uint8_t *bytes)
{
	size_t n = 0;
	for (size_t i = 0; i < z->i.raw.modrm.offset; i++)
		if (bytes[i] != OPERAND_SIZE)
			out[n++] = bytes[i];
	return n;
}

static void call_register(struct emit *e, const struct zinsn *z, const uint8_t *bytes,
			  uint64_t return_pc)
{
	if (z->op[0].reg.value == ZYDIS_REGISTER_RSP) {
		e->failed = true;
		return;
	}
	uint8_t jump[ZYDIS_MAX_INSTRUCTION_LENGTH];
	size_t n = copy_head(jump, z, bytes);
	uint8_t modrm = bytes[z->i.raw.modrm.offset];
	jump[n++] = (uint8_t)((modrm & ~MODRM_REG) | X64_ONE_JUMP << 3);
	push_return(e, return_pc);
	emit_bytes(e, jump, n);
}

/* Pushes the call's operand at a time when the stack pointer is `lowered` bytes below its original
 * value. */
static void push_operand(struct emit *e, const struct zinsn *z, const struct insn *in,
			 const uint8_t *bytes, int32_t lowered)
{
	uint8_t push[ZYDIS_MAX_INSTRUCTION_LENGTH + 4];
	const uint8_t *modrm = bytes + z->i.raw.modrm.offset;
	size_t head = copy_head(push, z, bytes), n = head;
	memcpy(push + n, modrm, (size_t)(bytes + in->length - modrm));
	n += (size_t)(bytes + in->length - modrm);
	push[head] = (uint8_t)((*modrm & ~MODRM_REG) | X64_ONE_PUSH << 3);
	if (base_of(z) == ZYDIS_REGISTER_RSP || base_of(z) == ZYDIS_REGISTER_ESP) {
		int64_t disp = z->i.raw.disp.value + lowered;
		push[head] = (uint8_t)((push[head] & 0x3f) | 0x80); /* with a 32-bit displacement */
		put_displacement(push + head + 2, (uint64_t)disp);
		e->failed |= disp != (int32_t)disp;
		emit_bytes(e, push, head + 6);
		return;
	}
	append_relative(e, z, push, n, n - 4, in->pc + in->length);
}

/* A call reads its operand before it writes the return address. Both may be in the same place, if
 * the target was kept just below the stack pointer. So the operand is pushed first:
 *
 *		lea -8(%rsp), %rsp
 *		push operand
 *		push return
 *		pop 8(%rsp)		the address is relative to rsp after the pop
 *		lea 8(%rsp), %rsp
 *		jmp *-8(%rsp)		signal handlers do not touch the red zone */
static void call_memory(struct emit *e, const struct zinsn *z, const struct insn *in,
			const uint8_t *bytes, uint64_t return_pc)
{
	x64_move_stack(e, -8);
	push_operand(e, z, in, bytes, 8);
	push_return(e, return_pc);
	x64_memory_form(e, X64_POP_MEMORY, 0, X64_RSP, 8);
	x64_move_stack(e, 8);
	if (z->i.attributes & ZYDIS_ATTRIB_HAS_NOTRACK)
		x64_byte(e, X64_NOTRACK);
	x64_memory_form(e, X64_ONE, X64_ONE_JUMP, X64_RSP, -8);
}

void x64_call(struct emit *e, const struct insn *in, const uint8_t *bytes, uint64_t return_pc)
{
	struct zinsn z;
	if (in->kind == INSN_CALL) {
		push_return(e, return_pc);
		x64_go(e, (struct emit_target){.label = LABEL_NONE, .pc = in->target});
		return;
	}
	bool is_near = x64_zydis(bytes, in->length, &z) && z.i.opcode == X64_ONE &&
		       z.i.raw.modrm.reg == X64_ONE_CALL;
	if (in->kind != INSN_CALL_INDIRECT || !is_near)
		e->failed = true;
	else if (z.op[0].type == ZYDIS_OPERAND_TYPE_REGISTER)
		call_register(e, &z, bytes, return_pc);
	else
		call_memory(e, &z, in, bytes, return_pc);
}
