/* What the forms of rows.h compute: op and operands of struct insn, and how the stack pointer
 * moves. A fill function is called after the register sets are complete. At that time `op` is
 * OP_OTHER, all operands are REG_NONE, and `stack_known` is already right for all instructions that
 * do not write the stack pointer. */
#include "isa/a64/table.h"

enum { SP = 31 };

static uint32_t bits(uint32_t w, unsigned high, unsigned low)
{
	return w >> low & ((2u << (high - low)) - 1);
}

static int64_t signed_bits(uint32_t w, unsigned high, unsigned low)
{
	return (int32_t)(w << (31 - high)) >> (31 - high + low);
}

static uint8_t general(uint32_t w, unsigned low)
{
	uint32_t n = bits(w, low + 4, low);
	return n == 31 ? REG_NONE : (uint8_t)n;
}

static uint8_t general_sp(uint32_t w, unsigned low)
{
	return (uint8_t)bits(w, low + 4, low);
}

static uint8_t width_of(uint32_t w)
{
	return w >> 31 ? 8 : 4;
}

static bool subtracts(uint32_t w)
{
	return bits(w, 30, 30);
}

static bool sets_flags(uint32_t w)
{
	return bits(w, 29, 29);
}

/* The base register moves by `by`, which matters if it is the stack pointer. */
static void move_base(struct insn *out, uint8_t base, int64_t by)
{
	if (base == SP) {
		out->stack_known = true;
		out->stack = (int32_t)by;
	}
}

static void set(struct insn *out, uint8_t dst, uint8_t width, int64_t value)
{
	out->op = dst == REG_NONE ? OP_OTHER : OP_SET;
	out->dst = dst;
	out->width = width;
	out->imm = value;
}

static void adr(uint32_t w, struct insn *out)
{
	int64_t offset = signed_bits(w, 23, 5) * 4 + bits(w, 30, 29);
	set(out, general(w, 0), 8, (int64_t)(out->pc + (uint64_t)offset));
	out->flags |= INSN_PC_RELATIVE;
}

static void adrp(uint32_t w, struct insn *out)
{
	int64_t pages = signed_bits(w, 23, 5) * 4 + bits(w, 30, 29);
	uint64_t page = out->pc & ~UINT64_C(0xfff);
	set(out, general(w, 0), 8, (int64_t)(page + (uint64_t)pages * 4096));
	out->flags |= INSN_PC_RELATIVE;
}

/* cmn with a constant compares with its negative: the flags are the same, except for the constant
 * 0. */
static void add_imm(uint32_t w, struct insn *out)
{
	int64_t imm = (int64_t)bits(w, 21, 10) << (bits(w, 22, 22) ? 12 : 0);
	bool compares = sets_flags(w) && (subtracts(w) || imm != 0);

	out->width = width_of(w);
	out->a = general_sp(w, 5);
	out->imm = subtracts(w) ? -imm : imm;
	if (sets_flags(w) && bits(w, 4, 0) == 31) {
		out->op = compares ? OP_COMPARE : OP_OTHER;
		out->imm = -out->imm;
		return;
	}
	out->op = OP_ADD;
	out->dst = general_sp(w, 0);
	if (compares)
		out->flags |= INSN_COMPARES;
	if (out->dst == SP && out->a == SP && out->width == 8)
		move_base(out, SP, out->imm);
}

/* dst = a +- (extend(b) << shift); the operands are set already. dst is REG_NONE if it is the zero
 * register. */
static void add_reg(uint32_t w, struct insn *out)
{
	bool plain_b = out->extend == EXTEND_NONE && out->shift == 0;

	if (out->dst == REG_NONE) {
		if (sets_flags(w) && subtracts(w) && plain_b && out->a != REG_NONE)
			out->op = OP_COMPARE;
	} else if (!subtracts(w) || out->b == REG_NONE) {
		out->op = OP_ADD;
	} else if (plain_b && out->a != REG_NONE) {
		out->op = OP_SUB;
	}
	if (out->op != OP_COMPARE && sets_flags(w) && subtracts(w) && plain_b &&
	    out->a != REG_NONE && out->dst != REG_NONE)
		out->flags |= INSN_COMPARES;
}

static void add_shifted(uint32_t w, struct insn *out)
{
	uint8_t amount = (uint8_t)bits(w, 15, 10);
	if (bits(w, 23, 22) != 0 && amount != 0)
		return;
	out->width = width_of(w);
	out->dst = general(w, 0);
	out->a = general(w, 5);
	out->b = general(w, 16);
	out->shift = amount;
	add_reg(w, out);
}

static void add_extended(uint32_t w, struct insn *out)
{
	static const uint8_t extend[] = {EXTEND_U8, EXTEND_U16, EXTEND_U32, EXTEND_NONE,
					 EXTEND_S8, EXTEND_S16, EXTEND_S32, EXTEND_NONE};
	uint32_t option = bits(w, 15, 13);

	out->width = width_of(w);
	out->dst = sets_flags(w) ? general(w, 0) : general_sp(w, 0);
	out->a = general_sp(w, 5);
	out->b = general(w, 16);
	out->shift = (uint8_t)bits(w, 12, 10);
	if (out->width == 8 || (option & 3) < 2)
		out->extend = extend[option];
	add_reg(w, out);
}

/* Decodes a bitmask immediate: a rotated run of ones in an element that repeats. False if the
 * fields encode none. */
static bool bitmask(uint32_t n, uint32_t immr, uint32_t imms, uint64_t *value)
{
	uint32_t length = n << 6 | (~imms & 0x3f);
	if (length < 2)
		return false;
	unsigned size = 1u << (31 - __builtin_clz(length)); /* of the repeated element */
	unsigned ones = (imms & (size - 1)) + 1, rotate = immr & (size - 1);
	if (ones == size)
		return false;
	uint64_t element = (UINT64_C(1) << ones) - 1;
	if (rotate)
		element = element >> rotate | element << (size - rotate);
	if (size < 64)
		element &= (UINT64_C(1) << size) - 1;
	for (; size < 64; size *= 2)
		element |= element << size;
	*value = element;
	return true;
}

static bool logic_imm_valid(uint32_t w)
{
	uint64_t value;
	bool fits = w >> 31 || !bits(w, 22, 22);
	return fits && bitmask(bits(w, 22, 22), bits(w, 21, 16), bits(w, 15, 10), &value);
}

static bool sve_logic_imm_valid(uint32_t w)
{
	uint64_t value;
	return bitmask(bits(w, 17, 17), bits(w, 16, 11), bits(w, 10, 5), &value);
}

static void logic_imm(uint32_t w, struct insn *out)
{
	enum { AND, ORR, EOR, ANDS } opcode = bits(w, 30, 29);
	uint64_t value = 0;
	uint8_t a = general(w, 5);

	bitmask(bits(w, 22, 22), bits(w, 21, 16), bits(w, 15, 10), &value);
	if (width_of(w) == 4)
		value = (uint32_t)value;
	if (opcode == ORR && a == REG_NONE) {
		set(out, general_sp(w, 0), width_of(w), (int64_t)value);
	} else if ((opcode == AND || opcode == ANDS) && a != REG_NONE) {
		out->dst = opcode == AND ? general_sp(w, 0) : general(w, 0);
		out->op = out->dst == REG_NONE ? OP_TEST : OP_AND;
		out->width = width_of(w);
		out->a = a;
		out->imm = (int64_t)value;
	}
}

static void move(struct insn *out, uint8_t dst, uint8_t from, uint8_t width, uint8_t extend)
{
	out->op = OP_MOVE;
	out->dst = dst;
	out->a = from;
	out->width = width;
	out->extend = extend;
}

static void logic_shifted(uint32_t w, struct insn *out)
{
	enum { AND, ORR, EOR, ANDS } opcode = bits(w, 30, 29);
	uint8_t dst = general(w, 0), a = general(w, 5), b = general(w, 16), width = width_of(w);

	if (bits(w, 21, 21) || bits(w, 15, 10)) /* inverted or shifted */
		return;
	if (opcode == ORR && a == REG_NONE && dst != REG_NONE) {
		if (b == REG_NONE)
			set(out, dst, width, 0);
		else
			move(out, dst, b, width, width == 8 ? EXTEND_NONE : EXTEND_U32);
	} else if (opcode == ANDS && dst == REG_NONE && a != REG_NONE && b != REG_NONE) {
		out->op = OP_TEST;
		out->width = width;
		out->a = a;
		out->b = b;
	}
}

static void movz(uint32_t w, struct insn *out)
{
	uint64_t value = (uint64_t)bits(w, 20, 5) << 16 * bits(w, 22, 21);
	set(out, general(w, 0), width_of(w), (int64_t)value);
}

static void movn(uint32_t w, struct insn *out)
{
	uint64_t value = ~((uint64_t)bits(w, 20, 5) << 16 * bits(w, 22, 21));
	uint8_t width = width_of(w);
	set(out, general(w, 0), width, (int64_t)(width == 8 ? value : (uint32_t)value));
}

static void shift(struct insn *out, uint8_t op, uint8_t width, uint32_t amount)
{
	out->op = op;
	out->width = width;
	out->imm = amount;
}

/* lsl, lsr, uxtb, uxth and the extraction of the lowest bits, which is an OP_AND. */
static void ubfm(uint32_t w, struct insn *out)
{
	uint32_t immr = bits(w, 21, 16), imms = bits(w, 15, 10), top = w >> 31 ? 63 : 31;
	uint8_t dst = general(w, 0), a = general(w, 5);

	if (dst == REG_NONE || a == REG_NONE)
		return;
	if (imms == top) {
		shift(out, OP_SHIFT_RIGHT, width_of(w), immr);
	} else if (imms + 1 == immr) {
		shift(out, OP_SHIFT_LEFT, width_of(w), top - imms);
	} else if (immr == 0 && (imms == 7 || imms == 15 || imms == 31)) {
		uint8_t extend = imms == 7 ? EXTEND_U8 : imms == 15 ? EXTEND_U16 : EXTEND_U32;
		move(out, dst, a, (uint8_t)((imms + 1) / 8), extend);
	} else if (immr == 0) {
		out->op = OP_AND;
		out->width = width_of(w);
		out->imm = (int64_t)((UINT64_C(2) << imms) - 1);
	} else {
		return;
	}
	out->dst = dst;
	out->a = a;
}

/* sxtb, sxth, sxtw to 64 bits. The forms to 32 bits also clear the upper half, which no insn_extend
 * expresses. */
static void sbfm(uint32_t w, struct insn *out)
{
	uint32_t immr = bits(w, 21, 16), imms = bits(w, 15, 10);
	uint8_t dst = general(w, 0), a = general(w, 5);

	if (immr != 0 || width_of(w) != 8 || dst == REG_NONE || a == REG_NONE)
		return;
	if (imms == 7 || imms == 15 || imms == 31) {
		uint8_t extend = imms == 7 ? EXTEND_S8 : imms == 15 ? EXTEND_S16 : EXTEND_S32;
		move(out, dst, a, (uint8_t)((imms + 1) / 8), extend);
	}
}

static void branch_flags(uint32_t w, struct insn *out)
{
	static const uint8_t cond[16] = {COND_EQ,    COND_NE,    COND_UGE,   COND_ULT,
					 COND_OTHER, COND_OTHER, COND_OTHER, COND_OTHER,
					 COND_UGT,   COND_ULE,   COND_SGE,   COND_SLT,
					 COND_SGT,   COND_SLE,   COND_OTHER, COND_OTHER};
	out->cond = cond[bits(w, 3, 0)];
}

static void branch_on(uint32_t w, struct insn *out, uint8_t op, uint8_t width, int64_t imm)
{
	if (general(w, 0) == REG_NONE)
		return;
	out->op = op;
	out->a = general(w, 0);
	out->width = width;
	out->imm = imm;
	out->cond = bits(w, 24, 24) ? COND_NE : COND_EQ;
}

static void branch_zero(uint32_t w, struct insn *out)
{
	branch_on(w, out, OP_COMPARE, width_of(w), 0);
}

static void branch_bit(uint32_t w, struct insn *out)
{
	uint32_t bit = bits(w, 31, 31) << 5 | bits(w, 23, 19);
	branch_on(w, out, OP_TEST, width_of(w), (int64_t)(UINT64_C(1) << bit));
}

static void through_reg(uint32_t w, struct insn *out)
{
	if (general(w, 5) != REG_NONE)
		move(out, REG_NONE, general(w, 5), 8, EXTEND_NONE);
}

static void through_link(uint32_t w, struct insn *out)
{
	(void)w;
	move(out, REG_NONE, 30, 8, EXTEND_NONE);
}

static void load_literal(uint32_t w, struct insn *out)
{
	uint32_t opcode = bits(w, 31, 30);
	out->op = OP_LOAD;
	out->dst = general(w, 0);
	out->width = opcode == 1 ? 8 : 4;
	out->imm = (int64_t)(out->pc + (uint64_t)(signed_bits(w, 23, 5) * 4));
	if (opcode == 2)
		out->flags |= INSN_SIGNED;
}

/* Bits 31:30 are the width, bit 23 says whether the load is signed. */
static void mem(uint32_t w, struct insn *out, int64_t imm, uint8_t writeback)
{
	out->op = out->class == CLASS_LOAD ? OP_LOAD : OP_STORE;
	out->dst = general(w, 0);
	out->a = general_sp(w, 5);
	out->width = (uint8_t)(1u << bits(w, 31, 30));
	out->imm = imm;
	out->writeback = writeback;
	if (writeback != WRITEBACK_NONE)
		move_base(out, out->a, imm);
}

static void mem_signed(uint32_t w, struct insn *out, int64_t imm, uint8_t writeback)
{
	mem(w, out, imm, writeback);
	if (bits(w, 23, 23))
		out->flags |= INSN_SIGNED;
}

static void mem_base(uint32_t w, struct insn *out)
{
	mem(w, out, 0, WRITEBACK_NONE);
}

static void mem_scaled(uint32_t w, struct insn *out)
{
	mem_signed(w, out, (int64_t)bits(w, 21, 10) << bits(w, 31, 30), WRITEBACK_NONE);
}

static void mem_unscaled(uint32_t w, struct insn *out)
{
	mem_signed(w, out, signed_bits(w, 20, 12), WRITEBACK_NONE);
}

static void mem_pre(uint32_t w, struct insn *out)
{
	mem_signed(w, out, signed_bits(w, 20, 12), WRITEBACK_PRE);
}

static void mem_post(uint32_t w, struct insn *out)
{
	mem_signed(w, out, signed_bits(w, 20, 12), WRITEBACK_POST);
}

static void mem_reg(uint32_t w, struct insn *out)
{
	uint32_t option = bits(w, 15, 13);
	mem_signed(w, out, 0, WRITEBACK_NONE);
	out->b = general(w, 16);
	out->extend = option == 2 ? EXTEND_U32 : option == 6 ? EXTEND_S32 : EXTEND_NONE;
	out->shift = (uint8_t)(bits(w, 12, 12) ? bits(w, 31, 30) : 0);
}

static void load_auth_at(uint32_t w, struct insn *out, uint8_t writeback)
{
	int64_t imm = (-(int64_t)bits(w, 22, 22) * 512 + bits(w, 20, 12)) * 8;
	mem(w, out, imm, writeback);
}

static void load_auth(uint32_t w, struct insn *out)
{
	load_auth_at(w, out, WRITEBACK_NONE);
}

static void load_auth_pre(uint32_t w, struct insn *out)
{
	load_auth_at(w, out, WRITEBACK_PRE);
}

/* The three registers must differ, and none may be 31, except the value that set stores. */
static bool memory_copy_valid(uint32_t w)
{
	uint32_t d = bits(w, 4, 0), n = bits(w, 9, 5), s = bits(w, 20, 16);
	bool sets = bits(w, 23, 22) == 3;
	return d != n && d != s && n != s && d != 31 && n != 31 && (sets || s != 31);
}

/* ldpsw is not an instruction if it loads a register twice, or loads the base register that it also
 * updates. Other pairs that do so are instructions, with an unpredictable result. */
static bool pair_signed_valid(uint32_t w)
{
	uint32_t t = bits(w, 4, 0), t2 = bits(w, 14, 10), n = bits(w, 9, 5);
	bool moves_base = bits(w, 23, 23);
	return t != t2 && !(moves_base && n != SP && (n == t || n == t2));
}

/* 31:30 are 0: 4 bytes, 1: 4 bytes signed (ldpsw), 2: 8 bytes. */
static void pair_at(uint32_t w, struct insn *out, uint8_t writeback)
{
	out->op = out->class == CLASS_LOAD ? OP_LOAD_PAIR : OP_STORE_PAIR;
	out->dst = general(w, 0);
	out->dst2 = general(w, 10);
	out->a = general_sp(w, 5);
	out->width = width_of(w);
	out->imm = signed_bits(w, 21, 15) * out->width;
	out->writeback = writeback;
	if (bits(w, 30, 30))
		out->flags |= INSN_SIGNED;
	if (writeback != WRITEBACK_NONE)
		move_base(out, out->a, out->imm);
}

static void pair(uint32_t w, struct insn *out)
{
	pair_at(w, out, WRITEBACK_NONE);
}

static void pair_pre(uint32_t w, struct insn *out)
{
	pair_at(w, out, WRITEBACK_PRE);
}

static void pair_post(uint32_t w, struct insn *out)
{
	pair_at(w, out, WRITEBACK_POST);
}

static void base_imm9(uint32_t w, struct insn *out)
{
	move_base(out, general_sp(w, 5), signed_bits(w, 20, 12));
}

static void base_tag(uint32_t w, struct insn *out)
{
	move_base(out, general_sp(w, 5), signed_bits(w, 20, 12) * 16);
}

static void base_tag_pair(uint32_t w, struct insn *out)
{
	move_base(out, general_sp(w, 5), signed_bits(w, 21, 15) * 16);
}

static void base_vector_pair(uint32_t w, struct insn *out)
{
	move_base(out, general_sp(w, 5), signed_bits(w, 21, 15) * (4 << bits(w, 31, 30)));
}

/* With 31 as the index register, the base moves by the number of bytes transferred. */
static void struct_post(uint32_t w, struct insn *out)
{
	static const uint8_t registers[16] = {
		[0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2};
	if (bits(w, 20, 16) == 31)
		move_base(out, general_sp(w, 5),
			  registers[bits(w, 15, 12)] * (bits(w, 30, 30) ? 16 : 8));
}

static void struct_lane_post(uint32_t w, struct insn *out)
{
	int64_t elements = (bits(w, 13, 13) ? 2 : 0) + bits(w, 21, 21) + 1;
	uint32_t size = bits(w, 15, 14);
	if (size == 3) /* replicated */
		size = bits(w, 11, 10);
	else if (size == 2)
		size += bits(w, 10, 10);
	if (bits(w, 20, 16) == 31)
		move_base(out, general_sp(w, 5), elements << size);
}

const struct a64_form_info a64_form_info[A64_FORMS] = {
	[TRAP] = {.kind = INSN_TRAP},
	[NOP] = {.flags = INSN_NOP},
	[ADR] = {.fill = adr},
	[ADRP] = {.fill = adrp},
	[ADD_IMM] = {.fill = add_imm},
	[ADD_SHIFTED] = {.fill = add_shifted},
	[ADD_EXTENDED] = {.fill = add_extended},
	[LOGIC_IMM] = {.fill = logic_imm, .valid = logic_imm_valid},
	[SVE_LOGIC_IMM] = {.valid = sve_logic_imm_valid},
	[LOGIC_SHIFTED] = {.fill = logic_shifted},
	[MOVN] = {.fill = movn},
	[MOVZ] = {.fill = movz},
	[UBFM] = {.fill = ubfm},
	[SBFM] = {.fill = sbfm},
	[JUMP] = {.kind = INSN_JUMP},
	[CALL] = {.kind = INSN_CALL},
	[BRANCH_FLAGS] = {.kind = INSN_BRANCH, .fill = branch_flags},
	[JUMP_ALWAYS] = {.kind = INSN_JUMP},
	[BRANCH_ZERO] = {.kind = INSN_BRANCH, .fill = branch_zero},
	[BRANCH_BIT] = {.kind = INSN_BRANCH, .fill = branch_bit},
	[JUMP_REG] = {.kind = INSN_JUMP_INDIRECT, .fill = through_reg},
	[CALL_REG] = {.kind = INSN_CALL_INDIRECT, .fill = through_reg},
	[RETURN] = {.kind = INSN_RETURN, .fill = through_reg},
	[RETURN_CHECKED] = {.kind = INSN_RETURN, .flags = INSN_CHECKS_LINK, .fill = through_link},
	[SYSCALL] = {.kind = INSN_SYSCALL},
	[BTI_CALL] = {.flags = INSN_LANDING},
	[BTI_JUMP] = {.flags = INSN_LANDING | INSN_LANDING_JUMP_ONLY},
	[SIGN] = {.flags = INSN_SIGNS_LINK},
	[SIGN_LAND] = {.flags = INSN_SIGNS_LINK | INSN_LANDING},
	[CHECK] = {.flags = INSN_CHECKS_LINK},
	[EXCLUSIVE_LOAD] = {.flags = INSN_EXCLUSIVE_BEGIN},
	[EXCLUSIVE_END] = {.flags = INSN_EXCLUSIVE_END},
	[LOAD_LITERAL] = {.fill = load_literal},
	[MEM_BASE] = {.fill = mem_base},
	[MEM_SCALED] = {.fill = mem_scaled},
	[MEM_UNSCALED] = {.fill = mem_unscaled},
	[MEM_PRE] = {.fill = mem_pre},
	[MEM_POST] = {.fill = mem_post},
	[MEM_REG] = {.fill = mem_reg},
	[PAIR] = {.fill = pair},
	[PAIR_PRE] = {.fill = pair_pre},
	[PAIR_POST] = {.fill = pair_post},
	[PAIR_SIGNED] = {.fill = pair, .valid = pair_signed_valid},
	[PAIR_SIGNED_PRE] = {.fill = pair_pre, .valid = pair_signed_valid},
	[PAIR_SIGNED_POST] = {.fill = pair_post, .valid = pair_signed_valid},
	[MEMORY_COPY] = {.valid = memory_copy_valid},
	[LOAD_AUTH] = {.fill = load_auth},
	[LOAD_AUTH_PRE] = {.fill = load_auth_pre},
	[VMEM_PRE] = {.fill = base_imm9},
	[VMEM_POST] = {.fill = base_imm9},
	[VPAIR_PRE] = {.fill = base_vector_pair},
	[VPAIR_POST] = {.fill = base_vector_pair},
	[STRUCT_POST] = {.fill = struct_post},
	[STRUCT_LANE_POST] = {.fill = struct_lane_post},
	[TAG_PRE] = {.fill = base_tag},
	[TAG_POST] = {.fill = base_tag},
	[TAG_PAIR_PRE] = {.fill = base_tag_pair},
	[TAG_PAIR_POST] = {.fill = base_tag_pair},
};
