/* The value an instruction computes, if it has one of the forms that address arithmetic and stack
 * frames use, and how it moves the stack pointer.
 *
 * 8- and 16-bit results keep the rest of their register and are therefore not described (OP_OTHER),
 * nor is memory relative to fs and gs, whose bases are unknown here. movsx to 32 bits is treated as
 * if it were to 64: they differ only in the upper half of negative values. Constants that are
 * compared or added are sign-extended from the width of the operation; an unsigned compare must use
 * only `width` bytes of them. */
#include "isa/x64/x64.h"

static bool is_reg(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER;
}

static bool is_imm(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

static bool is_mem(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_MEMORY;
}

static uint8_t bytes_of(const ZydisDecodedOperand *op)
{
	return (uint8_t)(op->size / 8);
}

/* The number of the general register of which the operand is the lowest bytes, else REG_NONE. */
static uint8_t low_part(const ZydisDecodedOperand *op)
{
	if (!is_reg(op))
		return REG_NONE;
	struct x64_reg r = x64_register(op->reg.value);
	return r.bank == BANK_CORE && r.number <= X64_R15 && !r.high ? r.number : REG_NONE;
}

/* The same, but only if writing the operand also defines the rest of the register. */
static uint8_t whole(const ZydisDecodedOperand *op)
{
	return op->size >= 32 ? low_part(op) : REG_NONE;
}

static uint8_t address_register(ZydisRegister r)
{
	return r == ZYDIS_REGISTER_NONE ? REG_NONE : x64_register(r).number;
}

static uint8_t log2_of_scale(uint8_t scale)
{
	return scale == 8 ? 3 : scale == 4 ? 2 : scale == 2 ? 1 : 0;
}

/* Sets a, b, shift and imm to the operand's address; false if they cannot express it. */
static bool set_address(const ZydisDecodedOperand *op, struct insn *out)
{
	const ZydisDecodedOperandMem *m = &op->mem;
	struct x64_reg base = x64_register(m->base), index = x64_register(m->index);
	if (m->segment == ZYDIS_REGISTER_FS || m->segment == ZYDIS_REGISTER_GS)
		return false;
	if (m->type == ZYDIS_MEMOP_TYPE_VSIB || m->type == ZYDIS_MEMOP_TYPE_MIB)
		return false;
	if ((base.bank && base.bytes != 8) || (index.bank && index.bytes != 8) ||
	    m->base == ZYDIS_REGISTER_EIP)
		return false;
	out->a = address_register(m->base);
	out->b = address_register(m->index);
	out->shift = log2_of_scale(m->scale);
	out->imm = m->disp.value;
	if (m->base == ZYDIS_REGISTER_RIP)
		out->imm = (int64_t)(out->pc + out->length + (uint64_t)m->disp.value);
	return true;
}

/* Zydis sign-extends immediates; a 32-bit result has zeroes above it. */
static int64_t result_constant(const ZydisDecodedOperand *dst, int64_t v)
{
	return dst->size == 32 ? (int64_t)(uint32_t)v : v;
}

static void op_set(const ZydisDecodedOperand *dst, int64_t v, struct insn *out)
{
	out->op = OP_SET;
	out->dst = low_part(dst);
	out->width = bytes_of(dst);
	out->imm = result_constant(dst, v);
}

static void op_load(const ZydisDecodedOperand *dst, const ZydisDecodedOperand *src,
		    struct insn *out)
{
	if (whole(dst) == REG_NONE || !set_address(src, out))
		return;
	out->op = OP_LOAD;
	out->dst = low_part(dst);
	out->width = bytes_of(src);
}

static void op_store(const ZydisDecodedOperand *dst, const ZydisDecodedOperand *src,
		     struct insn *out)
{
	uint8_t from = low_part(src);
	if ((from == REG_NONE && !is_imm(src)) || !set_address(dst, out))
		return;
	out->op = OP_STORE;
	out->dst = from;
	out->width = bytes_of(dst);
	if (is_imm(src))
		out->value = src->imm.value.s;
}

static void op_move(const ZydisDecodedOperand *dst, const ZydisDecodedOperand *src,
		    enum insn_extend extend, struct insn *out)
{
	if (whole(dst) == REG_NONE || low_part(src) == REG_NONE)
		return;
	out->op = OP_MOVE;
	out->dst = low_part(dst);
	out->a = low_part(src);
	out->width = bytes_of(src);
	out->extend = (uint8_t)extend;
}

static enum insn_extend extend_of(const ZydisDecodedOperand *src, bool is_signed)
{
	switch (src->size) {
	case 8: return is_signed ? EXTEND_S8 : EXTEND_U8;
	case 16: return is_signed ? EXTEND_S16 : EXTEND_U16;
	case 32: return is_signed ? EXTEND_S32 : EXTEND_U32;
	default: return EXTEND_NONE;
	}
}

static void do_mov(const ZydisDecodedOperand *op, struct insn *out)
{
	if (is_mem(&op[0]))
		op_store(&op[0], &op[1], out);
	else if (is_mem(&op[1]))
		op_load(&op[0], &op[1], out);
	else if (!is_imm(&op[1]))
		op_move(&op[0], &op[1], extend_of(&op[1], false), out);
	else if (whole(&op[0]) != REG_NONE)
		op_set(&op[0], op[1].imm.value.s, out);
}

static void do_extend(const ZydisDecodedOperand *op, bool is_signed, struct insn *out)
{
	/* movsxd to 32 bits is a plain move. */
	is_signed = is_signed && op[0].size > op[1].size;
	if (is_mem(&op[1]))
		op_load(&op[0], &op[1], out);
	else
		op_move(&op[0], &op[1], extend_of(&op[1], is_signed), out);
	if (is_signed && out->op == OP_LOAD)
		out->flags |= INSN_SIGNED;
}

static void do_lea(const ZydisDecodedOperand *op, struct insn *out)
{
	if (whole(&op[0]) == REG_NONE || !set_address(&op[1], out))
		return;
	if (out->a == REG_NONE && out->b == REG_NONE) {
		op_set(&op[0], out->imm, out);
		out->flags |= op[1].mem.base == ZYDIS_REGISTER_RIP ? INSN_PC_RELATIVE : 0;
		return;
	}
	out->op = OP_ADD;
	out->dst = low_part(&op[0]);
	out->width = bytes_of(&op[0]);
}

/* dst = dst OPERATION (register or constant) */
static void op_binary(enum insn_op operation, const ZydisDecodedOperand *op, struct insn *out)
{
	uint8_t dst = whole(&op[0]);
	if (dst == REG_NONE || (!is_imm(&op[1]) && low_part(&op[1]) == REG_NONE))
		return;
	out->op = (uint8_t)operation;
	out->dst = out->a = dst;
	out->width = bytes_of(&op[0]);
	if (is_imm(&op[1]))
		out->imm = op[1].imm.value.s;
	else
		out->b = low_part(&op[1]);
}

static void do_sub(const ZydisDecodedOperand *op, struct insn *out)
{
	bool is_constant = is_imm(&op[1]);
	op_binary(is_constant ? OP_ADD : OP_SUB, op, out);
	if (is_constant)
		out->imm = (int64_t)(0 - (uint64_t)out->imm);
	if (out->op)
		out->flags |= INSN_COMPARES;
}

static void do_increment(const ZydisDecodedOperand *op, int64_t by, struct insn *out)
{
	if (whole(&op[0]) == REG_NONE)
		return;
	out->op = OP_ADD;
	out->dst = out->a = low_part(&op[0]);
	out->width = bytes_of(&op[0]);
	out->imm = by;
}

static void do_and(const ZydisDecodedOperand *op, struct insn *out)
{
	if (!is_imm(&op[1]))
		return;
	op_binary(OP_AND, op, out);
	out->imm = result_constant(&op[0], out->imm);
}

static void do_shift(enum insn_op operation, const ZydisDecodedOperand *op, struct insn *out)
{
	if (!is_imm(&op[1]))
		return;
	op_binary(operation, op, out);
	out->imm &= op[0].size == 64 ? 63 : 31;
}

static void test_memory(const ZydisDecodedOperand *op, struct insn *out)
{
	const ZydisDecodedOperand *memory = is_mem(&op[0]) ? &op[0] : &op[1];
	const ZydisDecodedOperand *other = is_mem(&op[0]) ? &op[1] : &op[0];
	uint8_t source = is_imm(other) ? REG_NONE : low_part(other);
	if ((!is_imm(other) && source == REG_NONE) || !set_address(memory, out))
		return;
	out->op = OP_TEST_MEM;
	out->dst = source;
	out->width = bytes_of(memory);
}

static void do_compare(enum insn_op operation, const ZydisDecodedOperand *op, struct insn *out)
{
	if (operation == OP_COMPARE && is_mem(&op[0]) && is_imm(&op[1])) {
		if (!set_address(&op[0], out))
			return;
		out->op = OP_COMPARE_MEM;
		out->value = op[1].imm.value.s;
		out->width = bytes_of(&op[0]);
		return;
	}
	if (is_mem(&op[0]) || is_mem(&op[1])) {
		test_memory(op, out);
		return;
	}
	uint8_t a = low_part(&op[0]), b = low_part(&op[1]);
	if (a == REG_NONE || (b == REG_NONE && !is_imm(&op[1])))
		return;
	out->op = (uint8_t)operation;
	out->a = a;
	out->b = b;
	out->width = bytes_of(&op[0]);
	if (is_imm(&op[1]))
		out->imm = op[1].imm.value.s;
}

static void do_push(const ZydisDecodedOperand *op, struct insn *out)
{
	out->op = OP_PUSH;
	out->dst = op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN ? REG_NONE : low_part(op);
	out->width = 8;
}

static void do_pop(const ZydisDecodedOperand *op, struct insn *out)
{
	if (whole(&op[0]) == REG_NONE)
		return;
	out->op = OP_POP;
	out->dst = low_part(&op[0]);
	out->a = X64_RSP;
	out->width = 8;
}

static void do_leave(struct insn *out)
{
	out->op = OP_POP;
	out->dst = out->a = X64_RBP;
	out->width = 8;
}

/* Describes the target of an indirect jump or call. */
static void do_indirect(const ZydisDecodedOperand *op, struct insn *out)
{
	if (op->size != 64)
		return;
	if (is_reg(op)) {
		out->op = OP_MOVE;
		out->a = low_part(op);
	} else if (set_address(op, out)) {
		out->op = OP_LOAD;
	}
	out->width = 8;
}

/* xor and sub of a register with itself set it to 0. */
static bool is_zeroing(const ZydisDecodedOperand *op)
{
	return is_reg(&op[1]) && op[0].type == op[1].type && op[0].reg.value == op[1].reg.value &&
	       whole(&op[0]) != REG_NONE;
}

static void set_operation(const struct zinsn *z, struct insn *out)
{
	const ZydisDecodedOperand *op = z->op;
	switch (z->i.mnemonic) {
	case ZYDIS_MNEMONIC_MOV: do_mov(op, out); break;
	case ZYDIS_MNEMONIC_MOVZX: do_extend(op, false, out); break;
	case ZYDIS_MNEMONIC_CDQE:
	case ZYDIS_MNEMONIC_CWDE:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD: do_extend(op, true, out); break;
	case ZYDIS_MNEMONIC_LEA: do_lea(op, out); break;
	case ZYDIS_MNEMONIC_ADD: op_binary(OP_ADD, op, out); break;
	case ZYDIS_MNEMONIC_INC: do_increment(op, 1, out); break;
	case ZYDIS_MNEMONIC_DEC: do_increment(op, -1, out); break;
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_SUB:
		if (is_zeroing(op))
			op_set(&op[0], 0, out);
		else if (z->i.mnemonic == ZYDIS_MNEMONIC_SUB)
			do_sub(op, out);
		break;
	case ZYDIS_MNEMONIC_AND: do_and(op, out); break;
	case ZYDIS_MNEMONIC_SHL: do_shift(OP_SHIFT_LEFT, op, out); break;
	case ZYDIS_MNEMONIC_SHR: do_shift(OP_SHIFT_RIGHT, op, out); break;
	case ZYDIS_MNEMONIC_CMP: do_compare(OP_COMPARE, op, out); break;
	case ZYDIS_MNEMONIC_TEST: do_compare(OP_TEST, op, out); break;
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHFQ:
		if (z->i.operand_width == 64)
			do_push(op, out);
		break;
	case ZYDIS_MNEMONIC_POP: do_pop(op, out); break;
	case ZYDIS_MNEMONIC_LEAVE: do_leave(out); break;
	case ZYDIS_MNEMONIC_CALL:
	case ZYDIS_MNEMONIC_JMP:
		if (!is_imm(&op[0]))
			do_indirect(&op[0], out);
		break;
	default: break;
	}
}

static int32_t pushed_bytes(const struct zinsn *z)
{
	return z->i.operand_width == 16 ? 2 : 8;
}

/* How far an instruction that writes rsp moves it; false if that is not a constant. */
static bool stack_effect(const struct zinsn *z, const struct insn *out, int32_t *by)
{
	const ZydisDecodedOperand *op = z->op;
	if (out->op == OP_ADD && out->dst == X64_RSP) {
		*by = (int32_t)out->imm;
		return out->a == X64_RSP && out->b == REG_NONE && out->width == 8;
	}
	switch (z->i.meta.category) {
	case ZYDIS_CATEGORY_CALL: *by = 0; return true;
	case ZYDIS_CATEGORY_RET:
		*by = is_imm(&op[0]) ? (int32_t)op[0].imm.value.u : 0;
		return z->i.mnemonic == ZYDIS_MNEMONIC_RET;
	case ZYDIS_CATEGORY_PUSH: *by = -pushed_bytes(z); return true;
	case ZYDIS_CATEGORY_POP:
		*by = pushed_bytes(z);
		return z->i.operand_count_visible == 0 || low_part(&op[0]) != X64_RSP; /* popf */
	default: break;
	}
	if (z->i.mnemonic == ZYDIS_MNEMONIC_ENTER && op[1].imm.value.u == 0) {
		*by = -8 - (int32_t)op[0].imm.value.u;
		return true;
	}
	return false;
}

static uint8_t condition_of(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_JZ: return COND_EQ;
	case ZYDIS_MNEMONIC_JNZ: return COND_NE;
	case ZYDIS_MNEMONIC_JB: return COND_ULT;
	case ZYDIS_MNEMONIC_JBE: return COND_ULE;
	case ZYDIS_MNEMONIC_JNBE: return COND_UGT;
	case ZYDIS_MNEMONIC_JNB: return COND_UGE;
	case ZYDIS_MNEMONIC_JL: return COND_SLT;
	case ZYDIS_MNEMONIC_JLE: return COND_SLE;
	case ZYDIS_MNEMONIC_JNLE: return COND_SGT;
	case ZYDIS_MNEMONIC_JNL: return COND_SGE;
	default: return COND_OTHER;
	}
}

void x64_operation(const struct zinsn *z, struct insn *out)
{
	out->dst = out->dst2 = out->a = out->b = REG_NONE;
	out->stack_known = true;
	if (out->flags & INSN_NOP)
		return;
	set_operation(z, out);
	out->cond = condition_of(z->i.mnemonic);
	if (regset_has(&out->writes, X64_RSP) && !stack_effect(z, out, &out->stack)) {
		out->stack_known = false;
		out->stack = 0;
	}
}
