/* What the parts of the ELF reader share. It lives as long as the module. Nothing outside module/
 * sees it.
 *
 * elf_read_header() to elf_read_dynamic() are called in this order when a module is opened; each
 * may use what the ones before it have found. The four tables are made when they are first needed,
 * by elf_need(). An elf_read_*() without a result cannot fail: it leaves out what is invalid, with
 * a note where the user may miss it. */
#pragma once
#include <elf.h>
#include <pthread.h>

#include "base/vec.h"
#include "module/bytes.h"
#include "module/cfi_table.h"
#include "module/module.h"
#include "module/section_table.h"

/* Any section, by its number. */
struct raw_section {
	const char *name;
	uint64_t flags, va, offset, size;
	uint32_t type, link;
	bool in_file; /* with all its bytes */
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
	uint64_t symbols, names, names_size; /* va; 0 if there is none */
	uint64_t hash, gnu_hash;
	struct dynamic_table {
		uint64_t va, size;
	} rela, plt_rela, relr;
	uint64_t got; /* DT_PLTGOT */
	bool is_pie, has_soname;
};

enum table_kind {
	TABLE_SYMBOLS,
	TABLE_SLOTS,
	TABLE_RELOCS,
	TABLE_FRAMES,
	TABLE_LANDINGS,
	TABLE_KINDS,
};

/* Sentences about damage. */
struct note_list {
	struct arena arena;
	VEC(const char *) list;
};

/* The index of .eh_frame by address (.eh_frame_hdr): pairs of 32-bit offsets from `va`, to the
 * start of a range and to its FDE. */
struct frame_index {
	uint64_t va;
	uint64_t offset; /* of the first pair, in the file */
	uint32_t count;  /* 0: there is no index that can be used */
};

struct reader {
	struct module *module;
	Elf64_Ehdr header;
	struct section_table table;
	const Elf64_Phdr *programs;
	const struct raw_section *sections;
	uint32_t program_count, section_count; /* no sections: no valid table */
	struct dynamic dynamic;
	struct frame_index index;
	struct note_list notes; /* of opening */

	/* Threads that need the same table at the same time wait for the one that makes it. A table
	 * may need another one with a smaller number while it is made. */
	struct lazy_table {
		pthread_mutex_t lock;
		atomic_bool made;
		struct arena arena, tmp;
		struct note_list notes;
	} tables[TABLE_KINDS];
	const struct symbol *symbols;
	const struct reloc *slots, *relocs;
	const struct frame_range *frames;
	const struct landing *landings;
	uint32_t symbol_count, slot_count, reloc_count, frame_count, landing_count;
	struct note_list all_notes; /* of opening and of all tables: module_notes() */
};

/* Checks that the bytes are an ELF file that can be read: elf_header.c. */
int elf_read_header(struct reader *r, struct err *e);
/* Segments and sections: elf_tables.c. */
int elf_read_tables(struct reader *r, struct err *e);
/* Build id and debug link: elf_identity.c. */
void elf_read_identity(struct reader *r);
/* The dynamic section: elf_dynamic.c. */
void elf_read_dynamic(struct reader *r);
/* The index of call frame information: frames.c. */
void elf_read_frame_index(struct reader *r);

/* Makes a table, once: module.c. */
void elf_need(struct reader *r, enum table_kind kind, void (*make)(struct reader *r));

/* .eh_frame, as far as the section table has it; its size is 0 otherwise. */
struct cfi_table elf_eh_frame(const struct reader *r);
/* The number of the last range in the index that starts at or before va; false if all start after
 * it. */
bool elf_index_find(const struct reader *r, uint64_t va, uint32_t *number);
/* The FDE of a range in the index; `t` is .eh_frame. */
bool elf_index_fde(const struct reader *r, uint32_t number, struct cfi_table *t,
		   struct cfi_fde *out);

/* Adds a note about damage that does not prevent reading. */
void elf_note(struct note_list *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Describes a file that is not ELF by its first bytes; the sentence goes to *e. */
int elf_refuse(const uint8_t *bytes, uint64_t size, struct err *e);
/* Checks class, byte order, machine and type. */
int elf_check_kind(const Elf64_Ehdr *h, struct err *e);
/* The id in a run of ELF notes; false if there is none. */
bool elf_find_build_id(const uint8_t *notes, uint64_t size, struct build_id *id);

/* The section with this name, or NULL. */
const struct raw_section *elf_section(const struct reader *r, const char *name);
/* The bytes of a section; empty if they are not in the file. */
struct slice elf_bytes(const struct reader *r, const struct raw_section *s);
/* The contents of a section, decompressed if necessary. They live as long as the tmp arena of the
 * table. */
struct slice elf_contents(struct reader *r, struct lazy_table *t, const char *name);
/* The symbol table of the dynamic section, up to the last symbol that others can link to. *room is
 * how many symbols it could have at most. */
struct symbol_table elf_dynamic_symbols(const struct reader *r, uint64_t *room);
/* A table of the dynamic section, as far as it is in the file. */
struct slice elf_dynamic_table(const struct reader *r, const struct dynamic_table *t);
struct string_table string_table_over(const uint8_t *bytes, uint64_t size);
/* The string at the offset; NULL if that is outside. */
const char *string_at(const struct string_table *t, uint64_t offset);
/* The symbol table in a section; count is 0 if the section is none, or damaged. */
struct symbol_table elf_symbol_table(const struct reader *r, uint32_t section);
/* Copies symbol i; false if there is none or its name lies outside. */
bool elf_symbol(const struct symbol_table *t, uint64_t i, Elf64_Sym *out, const char **name);
