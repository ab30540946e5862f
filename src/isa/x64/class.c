/* The class of an instruction in an instruction mix.
 *
 * Many x86 instructions are a load or a store and an operation at once. The rules: a locked access
 * (xchg with memory is one) is ATOMIC. An instruction that writes memory is a STORE,
 * read-modify-write included. One that only moves memory into a register is a LOAD. A memory
 * operand that is the source of an operation does not change the operation's class. Scalar
 * floating-point arithmetic is FLOAT, everything else on vector and mask registers is SIMD. */
#include <string.h>

#include "isa/x64/x64.h"

bool x64_is_memory(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_MEMORY &&
	       (op->mem.type == ZYDIS_MEMOP_TYPE_MEM || op->mem.type == ZYDIS_MEMOP_TYPE_VSIB);
}

/* Instructions for the system or the cache rather than for the computation, whatever their
 * operands. */
static bool is_system(const ZydisDecodedInstruction *i)
{
	switch (i->meta.category) {
	case ZYDIS_CATEGORY_CET:
	case ZYDIS_CATEGORY_CLDEMOTE:
	case ZYDIS_CATEGORY_CLFLUSHOPT:
	case ZYDIS_CATEGORY_CLWB:
	case ZYDIS_CATEGORY_CLZERO:
	case ZYDIS_CATEGORY_COND_BR: /* xend: the others are classified by kind */
	case ZYDIS_CATEGORY_ENQCMD:
	case ZYDIS_CATEGORY_HRESET:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_IO:
	case ZYDIS_CATEGORY_IOSTRINGOP:
	case ZYDIS_CATEGORY_KEYLOCKER:
	case ZYDIS_CATEGORY_KEYLOCKER_WIDE:
	case ZYDIS_CATEGORY_MPX:
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_PADLOCK:
	case ZYDIS_CATEGORY_PCONFIG:
	case ZYDIS_CATEGORY_PKU:
	case ZYDIS_CATEGORY_PREFETCH:
	case ZYDIS_CATEGORY_PREFETCHWT1:
	case ZYDIS_CATEGORY_PT:
	case ZYDIS_CATEGORY_RDPID:
	case ZYDIS_CATEGORY_RDPRU:
	case ZYDIS_CATEGORY_RDRAND:
	case ZYDIS_CATEGORY_RDSEED:
	case ZYDIS_CATEGORY_RDWRFSGS:
	case ZYDIS_CATEGORY_SEGOP:
	case ZYDIS_CATEGORY_SERIALIZE:
	case ZYDIS_CATEGORY_SGX:
	case ZYDIS_CATEGORY_SMAP:
	case ZYDIS_CATEGORY_SYSTEM:
	case ZYDIS_CATEGORY_TSX_LDTRK:
	case ZYDIS_CATEGORY_UINTR:
	case ZYDIS_CATEGORY_UNCOND_BR: /* xabort */
	case ZYDIS_CATEGORY_VTX:
	case ZYDIS_CATEGORY_WAITPKG:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_XSAVE:
	case ZYDIS_CATEGORY_XSAVEOPT: return true;
	case ZYDIS_CATEGORY_MISC: /* fences, cpuid, pause, clflush, ... but not these: */
		return i->mnemonic != ZYDIS_MNEMONIC_LEA && i->mnemonic != ZYDIS_MNEMONIC_LEAVE &&
		       i->mnemonic != ZYDIS_MNEMONIC_ENTER && i->mnemonic != ZYDIS_MNEMONIC_XLAT;
	case ZYDIS_CATEGORY_SSE:
		return i->meta.isa_set == ZYDIS_ISA_SET_FXSAVE ||
		       i->meta.isa_set == ZYDIS_ISA_SET_FXSAVE64;
	default: return false;
	}
}

/* Whether the instruction moves memory into a register unchanged, or at most extended or
 * replicated. */
static bool is_move(const ZydisDecodedInstruction *i)
{
	switch (i->meta.category) {
	case ZYDIS_CATEGORY_AVX2GATHER:
	case ZYDIS_CATEGORY_BROADCAST:
	case ZYDIS_CATEGORY_DATAXFER:
	case ZYDIS_CATEGORY_EXPAND:
	case ZYDIS_CATEGORY_GATHER:
	case ZYDIS_CATEGORY_POP: return true;
	default: break;
	}
	switch (i->mnemonic) {
	case ZYDIS_MNEMONIC_FBLD:
	case ZYDIS_MNEMONIC_FILD:
	case ZYDIS_MNEMONIC_FLD:
	case ZYDIS_MNEMONIC_FLDCW:
	case ZYDIS_MNEMONIC_FLDENV:
	case ZYDIS_MNEMONIC_FRSTOR:
	case ZYDIS_MNEMONIC_KMOVB:
	case ZYDIS_MNEMONIC_KMOVD:
	case ZYDIS_MNEMONIC_KMOVQ:
	case ZYDIS_MNEMONIC_KMOVW:
	case ZYDIS_MNEMONIC_LDDQU:
	case ZYDIS_MNEMONIC_LDMXCSR:
	case ZYDIS_MNEMONIC_LEAVE:
	case ZYDIS_MNEMONIC_LODSB:
	case ZYDIS_MNEMONIC_LODSD:
	case ZYDIS_MNEMONIC_LODSQ:
	case ZYDIS_MNEMONIC_LODSW:
	case ZYDIS_MNEMONIC_VLDDQU:
	case ZYDIS_MNEMONIC_VLDMXCSR:
	case ZYDIS_MNEMONIC_VMASKMOVPD:
	case ZYDIS_MNEMONIC_VMASKMOVPS:
	case ZYDIS_MNEMONIC_VPMASKMOVD:
	case ZYDIS_MNEMONIC_VPMASKMOVQ:
	case ZYDIS_MNEMONIC_XLAT: return true;
	default: return false;
	}
}

static bool is_vector(const struct zinsn *z)
{
	if (z->i.meta.category == ZYDIS_CATEGORY_MMX || z->i.meta.category == ZYDIS_CATEGORY_AVX)
		return true;
	for (size_t k = 0; k < z->i.operand_count; k++) {
		const ZydisDecodedOperand *op = &z->op[k];
		if (op->type != ZYDIS_OPERAND_TYPE_REGISTER)
			continue;
		switch (ZydisRegisterGetClass(op->reg.value)) {
		case ZYDIS_REGCLASS_MMX:
		case ZYDIS_REGCLASS_XMM:
		case ZYDIS_REGCLASS_YMM:
		case ZYDIS_REGCLASS_ZMM:
		case ZYDIS_REGCLASS_TMM:
		case ZYDIS_REGCLASS_MASK: return true;
		default: break;
		}
	}
	return false;
}

/* Scalar floating-point arithmetic is recognised by its name: addsd, vcvttss2si. Integer vector
 * operations, some of which end in the same letters, begin with a p: pabsd. */
static bool is_scalar_float(const ZydisDecodedInstruction *i)
{
	static const char *const conversions[] = {"ss2", "sd2", "sh2", "si2s"};
	if (i->meta.category == ZYDIS_CATEGORY_DATAXFER ||
	    i->meta.category == ZYDIS_CATEGORY_BROADCAST)
		return false;
	const char *name = ZydisMnemonicGetString(i->mnemonic);
	size_t length = name ? strlen(name) : 0;
	if (length < 4 || name[name[0] == 'v'] == 'p')
		return false;
	const char *end = name + length - 2;
	if (end[0] == 's' && strchr("sdh", end[1]))
		return true;
	for (size_t k = 0; k < sizeof(conversions) / sizeof(conversions[0]); k++)
		if (strstr(name, conversions[k]))
			return true;
	return false;
}

static uint8_t class_of_operation(const struct zinsn *z)
{
	if (z->i.meta.isa_ext == ZYDIS_ISA_EXT_X87)
		return CLASS_FLOAT;
	if (!is_vector(z))
		return CLASS_INTEGER;
	return is_scalar_float(&z->i) ? CLASS_FLOAT : CLASS_SIMD;
}

uint8_t x64_class(const struct zinsn *z, enum insn_kind kind)
{
	if (kind == INSN_TRAP || kind == INSN_SYSCALL)
		return CLASS_OTHER;
	if (kind != INSN_PLAIN)
		return CLASS_BRANCH;
	if (is_system(&z->i))
		return CLASS_OTHER;

	bool reads = false, writes = false;
	for (size_t k = 0; k < z->i.operand_count; k++) {
		if (!x64_is_memory(&z->op[k]))
			continue;
		reads |= (z->op[k].actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
		writes |= (z->op[k].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
	}
	bool locked = z->i.attributes & ZYDIS_ATTRIB_HAS_LOCK;
	if (locked || (z->i.mnemonic == ZYDIS_MNEMONIC_XCHG && writes))
		return CLASS_ATOMIC;
	if (writes)
		return CLASS_STORE;
	if (reads && is_move(&z->i))
		return CLASS_LOAD;
	return class_of_operation(z);
}
