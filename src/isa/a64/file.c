#include "isa/file.h"

#include <elf.h>

static const struct reloc_type relocs[] = {
	{R_AARCH64_RELATIVE, RELOC_RELATIVE}, {R_AARCH64_ABS64, RELOC_SYMBOL},
	{R_AARCH64_GLOB_DAT, RELOC_SYMBOL},   {R_AARCH64_JUMP_SLOT, RELOC_JUMP_SLOT},
	{R_AARCH64_IRELATIVE, RELOC_IFUNC},
};

static const uint8_t dwarf[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
				16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

const struct arch_file a64_file = {
	.relocs = relocs,
	.reloc_count = sizeof(relocs) / sizeof(*relocs),
	.dwarf = dwarf,
	.dwarf_count = sizeof(dwarf),
	.mapping_symbols = true,
};
