#include "isa/calls.h"

#include "isa/arch.h"

const struct arch_calls *arch_calls(const struct arch *arch)
{
	return arch == &arch_a64 ? &a64_calls : &x64_calls;
}

unsigned calls_number_register(const struct arch *arch)
{
	unsigned reg = 0;
	while (reg < REGISTERS && arch->layout->ptrace_reg[reg] != arch_calls(arch)->number)
		reg++;
	return reg;
}
