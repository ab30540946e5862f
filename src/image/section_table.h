/* The section table of an ELF file in memory, wherever that comes from. Nothing of it is believed:
 * what lies outside of the file is not there. */
#pragma once
#include <elf.h>

#include "image/bytes.h"

struct section_table {
	const uint8_t *bytes;
	size_t size;
	Elf64_Ehdr header;
	uint32_t count; /* 0: there is none */
	uint32_t name_section;
	struct slice names;
};

/* False if there is one, but it is not within the file. Without one, it has no sections. */
bool section_table_open(struct section_table *t, const uint8_t *bytes, size_t size);
Elf64_Shdr section_table_header(const struct section_table *t, uint32_t number);
/* "" if it lies outside. */
const char *section_table_name(const struct section_table *t, const Elf64_Shdr *h);
/* False if the section has none in the file, or not all of them. */
bool section_table_bytes(const struct section_table *t, const Elf64_Shdr *h, struct slice *out);
/* The first section with this name. */
bool section_table_find(const struct section_table *t, const char *name, Elf64_Shdr *out);
/* The bytes of a section; false if the file has none by that name, or none in the file. */
bool elf_section_find(const uint8_t *bytes, size_t size, const char *name, struct slice *out);
