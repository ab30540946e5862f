/* The section table of an ELF file. It is not trusted: what lies outside of the file does not
 * exist. */
#pragma once
#include <elf.h>

#include "module/bytes.h"
#include "module/lazy_file.h"

struct section_table {
	const struct lazy_file *file;
	const uint8_t *headers;
	Elf64_Ehdr header;
	uint32_t count; /* 0 if there is no table */
	uint32_t name_section;
	struct slice names;
};

/* False if there is a table, but not within the file. A file without one has no sections. */
bool section_table_open(struct section_table *t, const struct lazy_file *f);
Elf64_Shdr section_table_header(const struct section_table *t, uint32_t number);
/* The section's name; "" if it lies outside of the file. */
const char *section_table_name(const struct section_table *t, const Elf64_Shdr *h);
/* Whether the file has all bytes of a section, and any at all. */
bool section_table_has(const struct section_table *t, const Elf64_Shdr *h);
/* The bytes of a section; false if the file has none of them, or not all. */
bool section_table_bytes(const struct section_table *t, const Elf64_Shdr *h, struct slice *out);
/* The first section with this name. */
bool section_table_find(const struct section_table *t, const char *name, Elf64_Shdr *out);
/* The bytes of the section with this name; false if there is none, or if the file has none or not
 * all of its bytes. */
bool elf_section_find(const struct lazy_file *f, const char *name, struct slice *out);
