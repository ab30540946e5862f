/* The registers an instruction reads and writes.
 *
 * Zydis lists implicit operands too, so most of this is a loop over operands. A write that leaves
 * part of the register as it was, or that may not happen, also reads the register. That depends on
 * the encoding: 32-bit results clear the upper half, 8- and 16-bit results keep it; VEX and EVEX
 * forms clear the rest of a vector register, the old SSE forms keep it. What Zydis does not report
 * is added at the end.
 *
 * Calls are described without their callee: a call reads and writes rsp, but nothing that its
 * callee touches. */
#include "isa/x64/x64.h"

/* A range of Zydis registers and the corresponding ones of ours: one each, or a single one
 * (is_one). */
static const struct register_range {
	ZydisRegister first, last;
	uint8_t bank, number, bytes;
	bool is_one, is_high;
} ranges[] = {
	{ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_R15, BANK_CORE, X64_RAX, 8, 0, 0},
	{ZYDIS_REGISTER_EAX, ZYDIS_REGISTER_R15D, BANK_CORE, X64_RAX, 4, 0, 0},
	{ZYDIS_REGISTER_AX, ZYDIS_REGISTER_R15W, BANK_CORE, X64_RAX, 2, 0, 0},
	{ZYDIS_REGISTER_AL, ZYDIS_REGISTER_BL, BANK_CORE, X64_RAX, 1, 0, 0},
	{ZYDIS_REGISTER_AH, ZYDIS_REGISTER_BH, BANK_CORE, X64_RAX, 1, 0, 1},
	{ZYDIS_REGISTER_SPL, ZYDIS_REGISTER_R15B, BANK_CORE, X64_RSP, 1, 0, 0},
	{ZYDIS_REGISTER_XMM0, ZYDIS_REGISTER_XMM31, BANK_VECTOR, 0, 16, 0, 0},
	{ZYDIS_REGISTER_YMM0, ZYDIS_REGISTER_YMM31, BANK_VECTOR, 0, 32, 0, 0},
	{ZYDIS_REGISTER_ZMM0, ZYDIS_REGISTER_ZMM31, BANK_VECTOR, 0, 64, 0, 0},
	{ZYDIS_REGISTER_K0, ZYDIS_REGISTER_K7, BANK_CORE, X64_K0, 8, 0, 0},
	{ZYDIS_REGISTER_ST0, ZYDIS_REGISTER_ST7, BANK_CORE, X64_X87, 1, 1, 0},
	{ZYDIS_REGISTER_MM0, ZYDIS_REGISTER_MM7, BANK_CORE, X64_X87, 1, 1, 0},
	{ZYDIS_REGISTER_X87CONTROL, ZYDIS_REGISTER_X87TAG, BANK_CORE, X64_X87, 1, 1, 0},
	{ZYDIS_REGISTER_TMM0, ZYDIS_REGISTER_TMM7, BANK_CORE, X64_TILES, 1, 1, 0},
	{ZYDIS_REGISTER_MXCSR, ZYDIS_REGISTER_MXCSR, BANK_CORE, X64_MXCSR, 4, 1, 0},
};

struct x64_reg x64_register(ZydisRegister r)
{
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		const struct register_range *s = &ranges[i];
		if (r < s->first || r > s->last)
			continue;
		unsigned offset = s->is_one ? 0 : r - s->first;
		return (struct x64_reg){s->bank, (uint8_t)(s->number + offset), s->bytes,
					s->is_high};
	}
	return (struct x64_reg){.bank = BANK_NONE, .number = REG_NONE};
}

static void set_add(struct regset *s, struct x64_reg r)
{
	if (r.bank == BANK_CORE)
		s->core |= X64_BIT(r.number);
	else if (r.bank == BANK_VECTOR)
		s->vec |= UINT32_C(1) << r.number;
}

static bool keeps_rest(const struct zinsn *z, struct x64_reg r)
{
	if (r.bank == BANK_VECTOR)
		return z->i.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
	return r.bytes < 4;
}

static bool is_merge_masked(const ZydisDecodedInstruction *i)
{
	return i->avx.mask.mode == ZYDIS_MASK_MODE_MERGING && i->avx.mask.reg != ZYDIS_REGISTER_K0;
}

static void read_whole(struct part_uses *p, uint64_t registers)
{
	p->high_reads |= registers;
	p->low_reads |= registers;
}

static void write_whole(struct part_uses *p, uint64_t registers)
{
	p->high_writes |= registers;
	p->low_writes |= registers;
}

/* Adds the uses of parts of a general register by a register operand. */
static void add_part_uses(const ZydisDecodedOperand *op, struct x64_reg r, struct part_uses *out)
{
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ) {
		out->low_reads |= r.high ? 0 : X64_BIT(r.number);
		out->high_reads |= r.bytes == 1 && !r.high ? 0 : X64_BIT(r.number);
	}
	if (op->actions & ZYDIS_OPERAND_ACTION_WRITE) {
		out->low_writes |= r.high ? 0 : X64_BIT(r.number);
		out->high_writes |= r.bytes < 4 ? 0 : X64_BIT(r.number);
	}
}

static void add_register(const struct zinsn *z, const ZydisDecodedOperand *op, struct insn *out)
{
	/* As a mask operand, k0 means that there is no mask. */
	if (op->encoding == ZYDIS_OPERAND_ENCODING_MASK && op->reg.value == ZYDIS_REGISTER_K0)
		return;
	struct x64_reg r = x64_register(op->reg.value);
	bool reads = op->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) {
		set_add(&out->writes, r);
		reads |= (op->actions & ZYDIS_OPERAND_ACTION_CONDWRITE) || keeps_rest(z, r) ||
			 (r.bank == BANK_VECTOR && is_merge_masked(&z->i));
	}
	if (reads)
		set_add(&out->reads, r);
	if (r.bank == BANK_CORE && r.number <= X64_R15)
		add_part_uses(op, r, &out->parts);
	if (op->attributes & ZYDIS_OATTRIB_IS_MULTISOURCE4)
		out->reads.vec |= UINT32_C(15) << (r.number & 28); /* an aligned group of four */
}

static void add_operands(const struct zinsn *z, struct insn *out)
{
	for (size_t k = 0; k < z->i.operand_count; k++) {
		const ZydisDecodedOperand *op = &z->op[k];
		if (op->type == ZYDIS_OPERAND_TYPE_REGISTER) {
			add_register(z, op, out);
		} else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
			struct regset address = {0};
			set_add(&address, x64_register(op->mem.base));
			set_add(&address, x64_register(op->mem.index));
			out->reads.core |= address.core;
			out->reads.vec |= address.vec;
			read_whole(&out->parts, address.core);
		}
	}
}

/* A shift by a count that is 0 after masking changes no flags. */
static bool may_shift_by_zero(const struct zinsn *z)
{
	const ZydisInstructionCategory category = z->i.meta.category;
	if (category != ZYDIS_CATEGORY_SHIFT && category != ZYDIS_CATEGORY_ROTATE)
		return false;
	const ZydisDecodedOperand *count = &z->op[z->i.operand_count_visible - 1];
	unsigned mask = z->op[0].size == 64 ? 63 : 31;
	return count->type != ZYDIS_OPERAND_TYPE_IMMEDIATE || (count->imm.value.u & mask) == 0;
}

static bool writes_flags_always(const struct zinsn *z)
{
	for (size_t k = 0; k < z->i.operand_count; k++)
		if (z->op[k].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    z->op[k].reg.value == ZYDIS_REGISTER_RFLAGS)
			return !(z->op[k].actions & ZYDIS_OPERAND_ACTION_CONDWRITE) &&
			       !may_shift_by_zero(z);
	return true;
}

/* The condition flags are one register: an instruction that changes only some of them also reads
 * it. A flag left undefined counts as written. The direction flag is not included: no code may
 * clobber it. */
static void add_flags(const struct zinsn *z, struct insn *out)
{
	const ZydisAccessedFlagsMask all = ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF |
					   ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF;
	const ZydisAccessedFlags *f = z->i.cpu_flags;
	if (!f || out->kind == INSN_SYSCALL) /* the kernel restores them */
		return;
	ZydisAccessedFlagsMask written = (f->modified | f->set_0 | f->set_1 | f->undefined) & all;
	if (written)
		out->writes.core |= X64_BIT(REG_FLAGS);
	bool always = writes_flags_always(z);
	if ((f->tested & all) || (written && (written != all || !always)))
		out->reads.core |= X64_BIT(REG_FLAGS);
	const uint64_t flags = X64_BIT(REG_FLAGS);
	const ZydisAccessedFlagsMask low = all & ~(ZydisAccessedFlagsMask)ZYDIS_CPUFLAG_CF;
	out->parts.high_reads |= f->tested & ZYDIS_CPUFLAG_CF ? flags : 0;
	out->parts.low_reads |= f->tested & low ? flags : 0;
	out->parts.high_writes |= always && written & ZYDIS_CPUFLAG_CF ? flags : 0;
	out->parts.low_writes |= always && (written & low) == low ? flags : 0;
}

/* x87 and MMX operations change the x87 stack or its tags. Vector arithmetic on floats depends on
 * the rounding mode in mxcsr and records exceptions there. Zydis reports neither. */
static void add_float_state(const struct zinsn *z, struct insn *out)
{
	uint64_t x87 = X64_BIT(X64_X87);
	if (z->i.meta.isa_ext == ZYDIS_ISA_EXT_X87 || z->i.meta.isa_ext == ZYDIS_ISA_EXT_MMX ||
	    (out->reads.core | out->writes.core) & x87) {
		out->reads.core |= x87;
		out->writes.core |= x87;
	}
	if (z->i.meta.category == ZYDIS_CATEGORY_DATAXFER || z->i.meta.isa_ext == ZYDIS_ISA_EXT_X87)
		return;
	for (size_t k = 0; k < z->i.operand_count_visible; k++) {
		ZydisElementType type = z->op[k].element_type;
		if (type == ZYDIS_ELEMENT_TYPE_FLOAT16 || type == ZYDIS_ELEMENT_TYPE_FLOAT32 ||
		    type == ZYDIS_ELEMENT_TYPE_FLOAT64) {
			out->reads.core |= X64_BIT(X64_MXCSR);
			out->writes.core |= X64_BIT(X64_MXCSR);
		}
	}
}

/* "or" with all ones, which compilers use with -Os to set a register to -1. */
static bool sets_all_ones(const struct zinsn *z)
{
	return z->i.mnemonic == ZYDIS_MNEMONIC_OR && z->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       z->op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && z->op[1].imm.value.s == -1;
}

/* Removes the read of a register on which the result does not depend. */
static void drop_core_read(struct x64_reg r, struct insn *out)
{
	if (r.bank != BANK_CORE || r.bytes < 4 || r.number > X64_R15)
		return;
	out->reads.core &= ~X64_BIT(r.number);
	out->parts.high_reads &= ~X64_BIT(r.number);
	out->parts.low_reads &= ~X64_BIT(r.number);
}

/* The result of xor, sub and the like of a register with itself does not depend on the register.
 * For the SSE forms this ignores the upper half, which they keep: no compiler keeps values there
 * across them. */
static void drop_idiom_reads(const struct zinsn *z, struct insn *out)
{
	if (sets_all_ones(z))
		drop_core_read(x64_register(z->op[0].reg.value), out);
	switch (z->i.mnemonic) {
	case ZYDIS_MNEMONIC_PSUBB:
	case ZYDIS_MNEMONIC_PSUBD:
	case ZYDIS_MNEMONIC_PSUBQ:
	case ZYDIS_MNEMONIC_PSUBW:
	case ZYDIS_MNEMONIC_PXOR:
	case ZYDIS_MNEMONIC_SBB: /* still depends on the carry */
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_VPSUBB:
	case ZYDIS_MNEMONIC_VPSUBD:
	case ZYDIS_MNEMONIC_VPSUBQ:
	case ZYDIS_MNEMONIC_VPSUBW:
	case ZYDIS_MNEMONIC_VPXOR:
	case ZYDIS_MNEMONIC_VXORPD:
	case ZYDIS_MNEMONIC_VXORPS:
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_XORPD:
	case ZYDIS_MNEMONIC_XORPS: break;
	default: return;
	}
	const ZydisDecodedOperand *y = &z->op[z->i.operand_count_visible - 1], *x = y - 1;
	if (x->type != ZYDIS_OPERAND_TYPE_REGISTER || y->type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    x->reg.value != y->reg.value)
		return;
	struct x64_reg r = x64_register(x->reg.value);
	drop_core_read(r, out);
	if (r.bank == BANK_VECTOR && !is_merge_masked(&z->i))
		out->reads.vec &= ~(UINT32_C(1) << r.number);
}

/* String instructions advance the registers that point to their operands; Zydis does not report
 * this for all of them. */
static void add_string_pointers(const struct zinsn *z, struct insn *out)
{
	if (z->i.meta.category != ZYDIS_CATEGORY_STRINGOP &&
	    z->i.meta.category != ZYDIS_CATEGORY_IOSTRINGOP)
		return;
	for (size_t k = 0; k < z->i.operand_count; k++)
		if (z->op[k].type == ZYDIS_OPERAND_TYPE_MEMORY)
			set_add(&out->writes, x64_register(z->op[k].mem.base));
}

/* Linux's system call convention: number in rax, arguments in six registers, result in rax. */
static void add_system_call(const struct zinsn *z, struct insn *out)
{
	uint64_t arguments = X64_BIT(X64_RDI) | X64_BIT(X64_RSI) | X64_BIT(X64_RDX) |
			     X64_BIT(X64_R10) | X64_BIT(X64_R8) | X64_BIT(X64_R9);
	/* int 0x80 and sysenter have the 32-bit convention. */
	if (z->i.mnemonic != ZYDIS_MNEMONIC_SYSCALL)
		arguments = X64_BIT(X64_RBX) | X64_BIT(X64_RCX) | X64_BIT(X64_RDX) |
			    X64_BIT(X64_RSI) | X64_BIT(X64_RDI) | X64_BIT(X64_RBP);
	out->reads.core |= arguments | X64_BIT(X64_RAX);
	out->writes.core |= X64_BIT(X64_RAX);
	read_whole(&out->parts, arguments | X64_BIT(X64_RAX));
	write_whole(&out->parts, X64_BIT(X64_RAX));
}

/* Other reads and writes that Zydis does not report. */
static void add_special(const struct zinsn *z, struct insn *out)
{
	const uint64_t state = X64_BIT(X64_X87) | X64_BIT(X64_MXCSR) | X64_BIT(X64_TILES) |
			       UINT64_C(0xff) << X64_K0;
	switch (z->i.mnemonic) {
	case ZYDIS_MNEMONIC_BSF: /* keeps the destination if the source is 0 */
	case ZYDIS_MNEMONIC_BSR:
	case ZYDIS_MNEMONIC_RDSSPD: /* does nothing where shadow stacks are off */
	case ZYDIS_MNEMONIC_RDSSPQ: set_add(&out->reads, x64_register(z->op[0].reg.value)); break;
	case ZYDIS_MNEMONIC_XLAT:
		out->reads.core |= X64_BIT(X64_RAX);
		out->parts.low_reads |= X64_BIT(X64_RAX);
		break;
	case ZYDIS_MNEMONIC_VZEROALL: out->writes.vec |= 0xffff; break;
	case ZYDIS_MNEMONIC_FXRSTOR:
	case ZYDIS_MNEMONIC_FXRSTOR64:
	case ZYDIS_MNEMONIC_XRSTOR:
	case ZYDIS_MNEMONIC_XRSTOR64:
	case ZYDIS_MNEMONIC_XRSTORS:
	case ZYDIS_MNEMONIC_XRSTORS64:
		out->writes.core |= state;
		out->writes.vec = UINT32_MAX; /* not all of it */ /* fall through */
	case ZYDIS_MNEMONIC_FXSAVE:
	case ZYDIS_MNEMONIC_FXSAVE64:
	case ZYDIS_MNEMONIC_XSAVE:
	case ZYDIS_MNEMONIC_XSAVE64:
	case ZYDIS_MNEMONIC_XSAVEC:
	case ZYDIS_MNEMONIC_XSAVEC64:
	case ZYDIS_MNEMONIC_XSAVEOPT:
	case ZYDIS_MNEMONIC_XSAVEOPT64:
	case ZYDIS_MNEMONIC_XSAVES:
	case ZYDIS_MNEMONIC_XSAVES64:
		out->reads.core |= state;
		out->reads.vec = UINT32_MAX;
		break;
	default: break;
	}
}

void x64_registers(const struct zinsn *z, struct insn *out)
{
	if (out->flags & INSN_NOP)
		return;
	add_operands(z, out);
	add_flags(z, out);
	add_float_state(z, out);
	add_string_pointers(z, out);
	add_special(z, out);
	if (out->kind == INSN_SYSCALL)
		add_system_call(z, out);
	drop_idiom_reads(z, out);
}
