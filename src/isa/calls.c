#include "isa/calls.h"

#include "isa/arch.h"

const struct arch_calls *arch_calls(const struct arch *arch)
{
	return arch == &arch_a64 ? &a64_calls : &x64_calls;
}
