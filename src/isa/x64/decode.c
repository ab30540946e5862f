/* x86-64 instructions decoded by Zydis: where control goes, and the table for struct arch. */
#include <elf.h>
#include <string.h>

#include "isa/x64/x64.h"

static enum insn_kind direct_or(const ZydisDecodedInstruction *i, enum insn_kind direct,
				enum insn_kind indirect)
{
	return i->raw.imm[0].is_relative ? direct : indirect;
}

/* int3, ud2 and hlt end a path. Single int3s also fill gaps between functions, which flow analysis
 * distinguishes by context. In user mode every other interrupt except Linux's int 0x80 is a
 * fault. */
static enum insn_kind kind_of_interrupt(const ZydisDecodedInstruction *i)
{
	bool is_call = i->mnemonic == ZYDIS_MNEMONIC_INT && i->raw.imm[0].value.u == 0x80;
	return is_call ? INSN_SYSCALL : INSN_TRAP;
}

static enum insn_kind kind_of(const ZydisDecodedInstruction *i)
{
	switch (i->meta.category) {
	case ZYDIS_CATEGORY_CALL: return direct_or(i, INSN_CALL, INSN_CALL_INDIRECT);
	case ZYDIS_CATEGORY_COND_BR: return direct_or(i, INSN_BRANCH, INSN_PLAIN); /* xend */
	case ZYDIS_CATEGORY_UNCOND_BR:
		if (i->mnemonic == ZYDIS_MNEMONIC_XABORT)
			return INSN_PLAIN;
		return direct_or(i, INSN_JUMP, INSN_JUMP_INDIRECT);
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_SYSRET: return INSN_RETURN;
	case ZYDIS_CATEGORY_SYSCALL: return INSN_SYSCALL;
	case ZYDIS_CATEGORY_INTERRUPT: return kind_of_interrupt(i);
	default: break;
	}
	switch (i->mnemonic) {
	case ZYDIS_MNEMONIC_UIRET: return INSN_RETURN;
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2: return INSN_TRAP;
	default: return INSN_PLAIN;
	}
}

static bool same_register(const ZydisDecodedOperand *x, const ZydisDecodedOperand *y)
{
	return x->type == ZYDIS_OPERAND_TYPE_REGISTER && y->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       x->reg.value == y->reg.value;
}

/* Besides nop itself: xchg of a register with itself, and lea of a register into itself. With
 * 32-bit operands both clear the upper half, so those are not nops. */
static bool is_nop(const struct zinsn *z)
{
	const ZydisDecodedOperand *op = z->op;
	switch (z->i.mnemonic) {
	case ZYDIS_MNEMONIC_NOP: return true;
	case ZYDIS_MNEMONIC_XCHG: return same_register(&op[0], &op[1]) && op[0].size != 32;
	case ZYDIS_MNEMONIC_LEA:
		return op[0].size == 64 && op[1].mem.base == op[0].reg.value &&
		       op[1].mem.index == ZYDIS_REGISTER_NONE && op[1].mem.disp.value == 0;
	default: return false;
	}
}

static void fill_flow(const struct zinsn *z, uint64_t pc, struct insn *out)
{
	*out = (struct insn){.pc = pc, .length = z->i.length, .kind = (uint8_t)kind_of(&z->i)};
	out->class = x64_class(z, out->kind);
	if (z->i.raw.imm[0].is_relative)
		out->target = pc + z->i.length + z->i.raw.imm[0].value.u;
	if (z->i.mnemonic == ZYDIS_MNEMONIC_ENDBR64)
		out->flags |= INSN_LANDING;
	if (is_nop(z)) {
		out->flags |= INSN_NOP;
		out->class = CLASS_OTHER;
	}
}

static size_t x64_decode(const uint8_t *p, size_t n, uint64_t pc, enum insn_detail detail,
			 struct insn *out)
{
	if (detail == DECODE_FLOW) {
		size_t length = x64_shape_recall(p, n, pc, out);
		if (length)
			return length;
	}
	struct zinsn z;
	if (!x64_zydis(p, n, &z))
		return 0;
	fill_flow(&z, pc, out);
	if (detail == DECODE_FLOW) {
		x64_shape_learn(p, &z, out);
		return out->length;
	}
	x64_registers(&z, out);
	x64_operation(&z, out);
	return out->length;
}

/* Finds the forms with a four-byte distance: e8, e9, and 0f 80 to 0f 8f. */
static size_t x64_find_jump(const uint8_t *p, size_t n, uint64_t pc, struct found_jump *out)
{
	for (size_t at = 0; at + 5 <= n; at++) {
		size_t opcode = (p[at] & 0xfe) == 0xe8                        ? 1
				: p[at] == 0x0f && (p[at + 1] & 0xf0) == 0x80 ? 2
									      : 0;
		int32_t distance;
		if (!opcode || at + opcode + sizeof(distance) > n)
			continue;
		memcpy(&distance, p + at + opcode, sizeof(distance));
		out->target = pc + at + opcode + sizeof(distance) + (uint64_t)(int64_t)distance;
		out->call = p[at] == 0xe8;
		return at;
	}
	return n;
}

static const char *x64_reg_name(unsigned reg)
{
	static const char *const names[] = {
		"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
		"r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15",
	};
	if (reg == REG_FLAGS)
		return "flags";
	return reg < sizeof(names) / sizeof(names[0]) ? names[reg] : "?";
}

const struct arch arch_x64 = {
	.name = "x86_64",
	.elf_machine = EM_X86_64,
	.insn_align = 1,
	.insn_max = ZYDIS_MAX_INSTRUCTION_LENGTH,
	.sp = X64_RSP,
	.fp = X64_RBP,
	.link = REG_NONE,
	.first_arg = X64_RDI,
	.second_arg = X64_RSI,
	.result = X64_RAX,
	.red_zone = 128,
	/* The control bits of mxcsr and of the x87 unit are preserved too. */
	.callee_saved.core = X64_BIT(X64_RBX) | X64_BIT(X64_RSP) | X64_BIT(X64_RBP) |
			     X64_BIT(X64_R12) | X64_BIT(X64_R13) | X64_BIT(X64_R14) |
			     X64_BIT(X64_R15) | X64_BIT(X64_X87) | X64_BIT(X64_MXCSR),
	/* al counts the vector registers of a variadic call, r10 is the static chain. */
	.arguments.core = X64_BIT(X64_RDI) | X64_BIT(X64_RSI) | X64_BIT(X64_RDX) |
			  X64_BIT(X64_RCX) | X64_BIT(X64_R8) | X64_BIT(X64_R9) | X64_BIT(X64_RAX) |
			  X64_BIT(X64_R10),
	.arguments.vec = 0xff,
	/* Besides rax and rdx, LLVM returns values in rcx, r8 and the first four vectors. */
	.scratch.core = X64_BIT(X64_RSI) | X64_BIT(X64_RDI) | X64_BIT(X64_R9) | X64_BIT(X64_R10) |
			X64_BIT(X64_R11) | X64_BIT(REG_FLAGS),
	.scratch.vec = 0xfff0,
	/* Registers that hold neither arguments nor results, except that r10 is the static chain.
	 * Callers may keep values in all of them across calls of functions known not to destroy
	 * them. */
	.private_candidates.core = X64_BIT(X64_R10) | X64_BIT(X64_R11) | X64_BIT(REG_FLAGS),
	.private_candidates.vec = 0xf300,
	.pass = {X64_R10, X64_R11},
	.usable.core = (0xffff & ~(X64_BIT(X64_RSP) | X64_BIT(X64_RBP))) | X64_BIT(REG_FLAGS),
	.usable.vec = 0xffff,
	.layout = &x64_layout,
	.emit = &x64_emit,
	.file = &x64_file,
	.decode = x64_decode,
	.find_jump = x64_find_jump,
	.short_jump = 129, /* forward 2 + 127, backward 128 - 2 */
	.reg_name = x64_reg_name,
};
