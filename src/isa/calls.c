#include "isa/calls.h"

#include "isa/arch.h"
#include "isa/registers.h"

const struct arch_calls *arch_calls(const struct arch *arch)
{
	return arch == &arch_a64 ? &a64_calls : &x64_calls;
}

uint64_t calls_register(const struct arch *arch, const struct registers *r, uint16_t offset)
{
	for (unsigned i = 0; i < REGISTERS; i++)
		if (arch->layout->ptrace_reg[i] == offset)
			return r->reg[i];
	return 0;
}

unsigned calls_number_register(const struct arch *arch)
{
	unsigned reg = 0;
	while (reg < REGISTERS && arch->layout->ptrace_reg[reg] != arch_calls(arch)->number)
		reg++;
	return reg;
}
