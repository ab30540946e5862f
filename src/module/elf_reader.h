/* What the parts of the ELF reader share while a module is being opened. Nothing outside module/
 * sees it.
 *
 * The parts are read in the order of the functions below; each may use what the ones before it have
 * put into r->module. An elf_read_*() without a result cannot fail: it leaves out what is invalid,
 * with a note where the user may miss it. */
#pragma once
#include <elf.h>

#include "base/vec.h"
#include "module/bytes.h"
#include "module/module.h"
#include "module/section_table.h"

/* Any section, by its number. */
struct raw_section {
	const char *name;
	uint64_t flags, va, offset, size;
	uint32_t type, link;
	const uint8_t *bytes; /* NULL if the file has none of them, or not all */
};

/* A table of NUL-terminated strings. Its last byte is a NUL; otherwise the table is unusable and
 * `size` is 0. */
struct string_table {
	const char *at;
	uint64_t size;
};

struct symbol_table {
	const uint8_t *bytes;
	uint64_t count;
	struct string_table names;
};

/* What the dynamic section refers to. */
struct dynamic {
	struct symbol_table symbols; /* up to the last one that others can link to */
	uint64_t symbol_room;        /* how many symbols the table could have at most */
	struct slice rela, plt_rela, relr;
	uint64_t got; /* DT_PLTGOT */
	bool is_pie, has_soname;
};

struct reader {
	struct module *module;
	struct arena tmp; /* released once the module is open */
	Elf64_Ehdr header;
	struct section_table table;
	const Elf64_Phdr *programs;
	const struct raw_section *sections;
	uint32_t program_count, section_count; /* no sections: no valid table */
	struct dynamic dynamic;
	VEC(const char *) notes;
};

/* Checks that the bytes are an ELF file that can be read: elf_header.c. */
int elf_read_header(struct reader *r, struct err *e);
/* Segments and sections: elf_tables.c. */
int elf_read_tables(struct reader *r, struct err *e);
/* Build id and debug link: elf_identity.c. */
void elf_read_identity(struct reader *r);
/* The dynamic section: elf_dynamic.c. */
void elf_read_dynamic(struct reader *r);
void elf_read_symbols(struct reader *r);
void elf_read_relocs(struct reader *r);
void elf_read_frames(struct reader *r);
void elf_read_landings(struct reader *r);

/* Adds a note about damage that does not prevent reading. */
void elf_note(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Describes a file that is not ELF by its first bytes; the sentence goes to *e. */
int elf_refuse(const uint8_t *bytes, uint64_t size, struct err *e);
/* Checks class, byte order, machine and type. */
int elf_check_kind(const Elf64_Ehdr *h, struct err *e);
/* The id in a run of ELF notes; false if there is none. */
bool elf_find_build_id(const uint8_t *notes, uint64_t size, struct build_id *id);

/* The section with this name, or NULL. */
const struct raw_section *elf_section(const struct reader *r, const char *name);
/* The contents of a section, decompressed if necessary. They live as long as r->tmp. */
struct slice elf_contents(struct reader *r, const char *name);
struct string_table string_table_over(const uint8_t *bytes, uint64_t size);
/* The string at the offset; NULL if that is outside. */
const char *string_at(const struct string_table *t, uint64_t offset);
/* The symbol table in a section; count is 0 if the section is none, or damaged. */
struct symbol_table elf_symbol_table(const struct reader *r, uint32_t section);
/* Copies symbol i; false if there is none or its name lies outside. */
bool elf_symbol(const struct symbol_table *t, uint64_t i, Elf64_Sym *out, const char **name);
