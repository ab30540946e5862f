/* Facts about ELF files of an architecture: relocations and DWARF register numbers. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* The kinds of relocated words of a module, by the value that a word will hold. */
enum reloc_kind {
	RELOC_RELATIVE,  /* the address `value` inside this module */
	RELOC_SYMBOL,    /* the address of `symbol` + value; the symbol may be defined elsewhere */
	RELOC_JUMP_SLOT, /* the same, for a PLT slot */
	RELOC_IFUNC,     /* the result of the resolver function at `value` */
};

struct reloc_type {
	uint32_t type; /* R_* */
	enum reloc_kind kind;
};

/* DWARF columns that are not general registers: the return address, and those we ignore. */
enum { DWARF_RETURN = 0xfe, DWARF_IGNORED = 0xff };

struct arch_file {
	const struct reloc_type *relocs;
	uint8_t reloc_count;
	/* Our register number for each DWARF register number. */
	const uint8_t *dwarf;
	uint8_t dwarf_count;
	bool mapping_symbols; /* "$x" marks the start of code, "$d" of data; a dot and any text may
				 follow */
};

extern const struct arch_file a64_file, x64_file;
