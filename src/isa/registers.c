#include "isa/registers.h"

#include <string.h>

#include "isa/arch.h"

/* perf writes the registers of a mask without gaps: the index of a register is the number of mask
 * bits below its own. */
static unsigned perf_index(uint64_t mask, uint16_t bit)
{
	return (unsigned)__builtin_popcountll(mask & ((UINT64_C(1) << bit) - 1));
}

void registers_from_perf(const struct arch *arch, const uint64_t *words, struct registers *out)
{
	const struct arch_layout *l = arch->layout;
	out->known = 0;
	out->pc = words[perf_index(l->perf_mask, l->perf_pc)];
	for (unsigned i = 0; i < REGISTERS; i++)
		if (l->perf_reg[i] != LAYOUT_ABSENT)
			registers_set(out, i, words[perf_index(l->perf_mask, l->perf_reg[i])]);
}

static uint64_t word_at(const void *bytes, uint16_t offset)
{
	uint64_t word;
	memcpy(&word, (const char *)bytes + offset, sizeof(word));
	return word;
}

bool registers_from_ptrace(const struct arch *arch, const void *regset, size_t size,
			   struct registers *out)
{
	const struct arch_layout *l = arch->layout;
	if (size != l->ptrace_size)
		return false;
	out->known = 0;
	out->pc = word_at(regset, l->ptrace_pc);
	for (unsigned i = 0; i < REGISTERS; i++)
		if (l->ptrace_reg[i] != LAYOUT_ABSENT)
			registers_set(out, i, word_at(regset, l->ptrace_reg[i]));
	return true;
}

const struct arch *arch_native(void)
{
#if defined(__aarch64__)
	return &arch_a64;
#elif defined(__x86_64__)
	return &arch_x64;
#else
	return NULL;
#endif
}
