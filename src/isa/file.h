/* What files for an architecture hold. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* A relocated word of the image: where it is, and what it will hold. */
enum reloc_kind {
	RELOC_RELATIVE,  /* the address `value` inside this image */
	RELOC_SYMBOL,    /* the address of `symbol` + value; symbol may be defined elsewhere */
	RELOC_JUMP_SLOT, /* the same, for a PLT's slot */
	RELOC_IFUNC,     /* what the resolver at `value` returns */
};

struct reloc_type {
	uint32_t type; /* R_* */
	enum reloc_kind kind;
};

/* DWARF's columns that are no general register: the return address, and what is of no interest. */
enum { DWARF_RETURN = 0xfe, DWARF_IGNORED = 0xff };

struct arch_file {
	const struct reloc_type *relocs;
	uint8_t reloc_count;
	/* DWARF's numbers of registers in ours. */
	const uint8_t *dwarf;
	uint8_t dwarf_count;
	bool mapping_symbols; /* "$x" begins code, "$d" data, with anything after a dot */
};

extern const struct arch_file a64_file, x64_file;
