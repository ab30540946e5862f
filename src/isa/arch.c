#include "isa/arch.h"

const char *const insn_kind_name[INSN_KINDS] = {
	[INSN_PLAIN] = "plain",     [INSN_JUMP] = "jump",
	[INSN_BRANCH] = "branch",   [INSN_JUMP_INDIRECT] = "jump-indirect",
	[INSN_CALL] = "call",       [INSN_CALL_INDIRECT] = "call-indirect",
	[INSN_RETURN] = "return",   [INSN_TRAP] = "trap",
	[INSN_SYSCALL] = "syscall",
};

const char *const insn_class_name[INSN_CLASSES] = {
	[CLASS_LOAD] = "load",     [CLASS_STORE] = "store", [CLASS_INTEGER] = "integer",
	[CLASS_FLOAT] = "float",   [CLASS_SIMD] = "simd",   [CLASS_BRANCH] = "branch",
	[CLASS_ATOMIC] = "atomic", [CLASS_OTHER] = "other",
};

const char *const insn_op_name[INSN_OPS] = {
	[OP_OTHER] = "other",
	[OP_SET] = "set",
	[OP_MOVE] = "move",
	[OP_ADD] = "add",
	[OP_SUB] = "sub",
	[OP_AND] = "and",
	[OP_SHIFT_LEFT] = "shl",
	[OP_SHIFT_RIGHT] = "shr",
	[OP_LOAD] = "load",
	[OP_STORE] = "store",
	[OP_LOAD_PAIR] = "load-pair",
	[OP_STORE_PAIR] = "store-pair",
	[OP_PUSH] = "push",
	[OP_POP] = "pop",
	[OP_COMPARE] = "compare",
	[OP_COMPARE_MEM] = "compare-mem",
	[OP_TEST_MEM] = "test-mem",
	[OP_TEST] = "test",
};

const struct arch *arch_of_machine(uint16_t elf_machine)
{
	static const struct arch *const all[] = {&arch_a64, &arch_x64};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i]->elf_machine == elf_machine)
			return all[i];
	return NULL;
}
