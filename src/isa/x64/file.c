#include "isa/file.h"

#include <elf.h>

static const struct reloc_type relocs[] = {
	{R_X86_64_RELATIVE, RELOC_RELATIVE},   {R_X86_64_RELATIVE64, RELOC_RELATIVE},
	{R_X86_64_64, RELOC_SYMBOL},           {R_X86_64_GLOB_DAT, RELOC_SYMBOL},
	{R_X86_64_JUMP_SLOT, RELOC_JUMP_SLOT}, {R_X86_64_IRELATIVE, RELOC_IFUNC},
};

/* rax rdx rcx rbx rsi rdi rbp rsp r8 .. r15 and the return address */
static const uint8_t dwarf[] = {0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15, DWARF_RETURN};

const struct arch_file x64_file = {
	.relocs = relocs,
	.reloc_count = sizeof(relocs) / sizeof(*relocs),
	.dwarf = dwarf,
	.dwarf_count = sizeof(dwarf),
};
