/* The ELF reader, on a small module that is put together here and bent in one respect at a time,
 * and on the test's own executable. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/arena.h"
#include "base/order.h"
#include "base/vec.h"
#include "module/bytes.h"
#include "module/module.h"
#include "module_tables.h"

enum {
	BASE = 0x10000, /* va of the file's first byte */
	SECTIONS = 16,
	SYMBOLS = 16,
};

/* A position-independent module: one read-only executable segment up to `data`, one writable
 * behind.
 */
struct file {
	Elf64_Ehdr h;
	Elf64_Phdr p[4];
	uint8_t text[256];
	Elf64_Sym symtab[SYMBOLS], dynsym[SYMBOLS];
	char strings[512];
	Elf64_Rela rela[8];
	uint64_t relr[4];
	uint8_t eh_frame[256], lsda[64];
	uint8_t note[40];
	char debuglink[20];
	uint64_t data[80];
	char names[256];
	Elf64_Shdr s[SECTIONS];
	uint32_t section_count, symtab_count, dynsym_count, rela_count, string_end, name_end;
};

#define VA(field) (BASE + offsetof(struct file, field))

/* What of the struct is the file. */
static const size_t file_size = offsetof(struct file, section_count);

static uint32_t add_string(char *table, uint32_t *end, const char *s)
{
	uint32_t at = *end;
	strcpy(table + at, s);
	*end += (uint32_t)strlen(s) + 1;
	return at;
}

static uint32_t add_section(struct file *f, const char *name, uint32_t type, uint64_t flags,
			    const void *bytes, uint64_t size, uint32_t link)
{
	uint64_t offset = (uint64_t)((const char *)bytes - (const char *)f);
	f->s[f->section_count] = (Elf64_Shdr){
		.sh_name = add_string(f->names, &f->name_end, name),
		.sh_type = type,
		.sh_flags = flags,
		.sh_addr = flags & SHF_ALLOC ? BASE + offset : 0,
		.sh_offset = offset,
		.sh_size = size,
		.sh_link = link,
	};
	f->h.e_shnum = (uint16_t)(f->section_count + 1);
	return f->section_count++;
}

static void add_symbol(struct file *f, bool dynamic, const char *name, uint8_t bind, uint8_t type,
		       uint16_t section, uint64_t va, uint64_t size)
{
	Elf64_Sym *s = dynamic ? &f->dynsym[f->dynsym_count++] : &f->symtab[f->symtab_count++];
	*s = (Elf64_Sym){.st_name = add_string(f->strings, &f->string_end, name),
			 .st_info = (uint8_t)ELF64_ST_INFO(bind, type),
			 .st_shndx = section,
			 .st_value = va,
			 .st_size = size};
}

static void add_rela(struct file *f, uint64_t va, uint32_t type, uint64_t symbol, int64_t addend)
{
	f->rela[f->rela_count++] = (Elf64_Rela){
		.r_offset = va, .r_info = ELF64_R_INFO(symbol, type), .r_addend = addend};
}

static void init_header(struct file *f)
{
	uint64_t data = offsetof(struct file, data);
	memcpy(f->h.e_ident, ELFMAG, SELFMAG);
	f->h.e_ident[EI_CLASS] = ELFCLASS64;
	f->h.e_ident[EI_DATA] = ELFDATA2LSB;
	f->h.e_type = ET_DYN;
	f->h.e_machine = EM_AARCH64;
	f->h.e_entry = VA(text);
	f->h.e_phoff = offsetof(struct file, p);
	f->h.e_phentsize = sizeof(Elf64_Phdr);
	f->h.e_phnum = 2;
	f->h.e_shoff = offsetof(struct file, s);
	f->h.e_shentsize = sizeof(Elf64_Shdr);
	f->p[0] = (Elf64_Phdr){.p_type = PT_LOAD,
			       .p_flags = PF_R | PF_X,
			       .p_vaddr = BASE,
			       .p_filesz = data,
			       .p_memsz = data};
	f->p[1] = (Elf64_Phdr){.p_type = PT_LOAD,
			       .p_flags = PF_R | PF_W,
			       .p_vaddr = BASE + data,
			       .p_offset = data,
			       .p_filesz = sizeof(f->data),
			       .p_memsz = sizeof(f->data) + 0x100};
}

enum { TEXT = 1, SYMTAB, DYNSYM, STRTAB, DATA };

static struct file *new_file(void)
{
	struct file *f = calloc(1, sizeof(*f));
	assert_non_null(f);
	init_header(f);
	f->string_end = f->name_end = 1;
	f->symtab_count = f->dynsym_count = 1;
	add_section(f, "", SHT_NULL, 0, f, 0, 0);
	add_section(f, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, f->text, sizeof(f->text),
		    0);
	add_section(f, ".symtab", SHT_SYMTAB, 0, f->symtab, sizeof(f->symtab), STRTAB);
	add_section(f, ".dynsym", SHT_DYNSYM, SHF_ALLOC, f->dynsym, sizeof(f->dynsym), STRTAB);
	add_section(f, ".strtab", SHT_STRTAB, 0, f->strings, sizeof(f->strings), 0);
	add_section(f, ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, f->data, sizeof(f->data), 0);
	f->h.e_shstrndx =
		(uint16_t)add_section(f, ".shstrtab", SHT_STRTAB, 0, f->names, sizeof(f->names), 0);
	return f;
}

static struct module *open_file(struct file *f)
{
	struct module *m = NULL;
	struct err e = {0};
	int rc = module_open_memory(&m, "test", f, file_size, &e);
	free(f);
	if (rc)
		fail_msg("%s", e.text);
	return m;
}

/* Expects the bytes to be refused with a sentence that has `expected` in it. */
static void refuse(const void *bytes, size_t size, int code, const char *expected)
{
	struct module *m;
	struct err e = {0};
	assert_int_equal(module_open_memory(&m, "test", bytes, size, &e), code);
	if (!strstr(e.text, expected))
		fail_msg("expected \"%s\" in: %s", expected, e.text);
}

static void refuse_file(struct file *f, int code, const char *expected)
{
	refuse(f, file_size, code, expected);
	free(f);
}

static bool has_note(const struct module *m, const char *text)
{
	uint32_t count;
	const char *const *notes = module_notes(m, &count);
	for (uint32_t i = 0; i < count; i++)
		if (strstr(notes[i], text))
			return true;
	return false;
}

static const struct symbol *find_symbol(const struct module *m, const char *name)
{
	for (uint32_t i = 0; i < symbol_count(m); i++)
		if (!strcmp(symbols_of(m)[i].name, name))
			return &symbols_of(m)[i];
	return NULL;
}

static void other_files_are_named(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *expected;
	} cases[] = {
		{"", 0, "empty"},
		{"#! /bin/bash\necho\n", 18,
		 "a script; name the program that runs it instead (/bin/bash)"},
		{"#!/usr/bin/env python3\n", 23, "(python3)"},
		{"#!", 2, "a script"},
		{"!<arch>\nfoo.o/", 14, "static library"},
		{"\x1f\x8b\x08\0", 4, "gzip -d"},
		{"\xfd"
		 "7zXZ\0",
		 6, "xz -d"},
		{"(\xb5/\xfd", 4, "zstd -d"},
		{"MZ\x90\0", 4, "Windows"},
		{"hello\n", 6, "a text file"},
		{"\x01\x02\x03\x04", 4, "not an ELF program"},
		{"\x7f"
		 "EL",
		 3, "not an ELF program"},
		{"\x7f"
		 "ELF",
		 4, "truncated"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		refuse(cases[i].bytes, cases[i].size, ERR_INPUT, cases[i].expected);
}

static void foreign_elf_is_named(void **state)
{
	(void)state;
	struct file *f = new_file();
	f->h.e_ident[EI_CLASS] = ELFCLASS32;
	f->h.e_machine = EM_386;
	refuse_file(f, ERR_UNSUPPORTED, "a 32-bit program for i386");
	f = new_file();
	f->h.e_ident[EI_DATA] = ELFDATA2MSB;
	f->h.e_machine = __builtin_bswap16(EM_PPC64);
	refuse_file(f, ERR_UNSUPPORTED, "a big-endian program for ppc64");
	f = new_file();
	f->h.e_machine = EM_RISCV;
	refuse_file(f, ERR_UNSUPPORTED, "for riscv");
	f = new_file();
	f->h.e_machine = 0x4242;
	refuse_file(f, ERR_UNSUPPORTED, "ELF machine 16962");
	f = new_file();
	f->h.e_type = ET_REL;
	refuse_file(f, ERR_INPUT, "object file");
	f = new_file();
	f->h.e_type = ET_CORE;
	refuse_file(f, ERR_INPUT, "core file");
}

static void truncated_files_are_refused(void **state)
{
	(void)state;
	struct file *f = new_file();
	refuse(f, 40, ERR_INPUT, "ends within the ELF header");
	refuse(f, sizeof(Elf64_Ehdr), ERR_INPUT, "program headers are not within the file");
	refuse(f, offsetof(struct file, text), ERR_INPUT, "does not fit into the file's");
	f->p[0].p_filesz = f->p[0].p_memsz = 1 << 30;
	refuse_file(f, ERR_INPUT, "truncated or damaged");
	f = new_file();
	f->p[0].p_offset = UINT64_MAX - 8;
	refuse_file(f, ERR_INPUT, "truncated or damaged");
	f = new_file();
	f->p[1].p_memsz = UINT64_MAX;
	refuse_file(f, ERR_INPUT, "leaves the address space");
	f = new_file();
	f->h.e_phnum = 0;
	refuse_file(f, ERR_INPUT, "program headers");
	f = new_file();
	f->p[0].p_type = f->p[1].p_type = PT_NOTE;
	refuse_file(f, ERR_INPUT, "no part of it is loaded");
}

static void unusable_paths_are_explained(void **state)
{
	struct module *m;
	struct err e = {0};
	char dir[] = "/tmp/test_module.XXXXXX", pipe[64];
	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(module_open(&m, dir, &e), ERR_INPUT);
	assert_non_null(strstr(e.text, "directory"));
	snprintf(pipe, sizeof(pipe), "%s/pipe", dir);
	assert_int_equal(module_open(&m, pipe, &e), ERR_SYSTEM);
	assert_non_null(strstr(e.text, "no such file"));
	assert_int_equal(mkfifo(pipe, 0600), 0);
	assert_int_equal(module_open(&m, pipe, &e), ERR_INPUT);
	assert_non_null(strstr(e.text, "pipe"));
	unlink(pipe);
	rmdir(dir);
}

static void sections_are_sorted_and_mapped(void **state)
{
	struct file *f = new_file();
	(void)state;
	f->text[7] = 0x55;
	uint32_t tbss = add_section(f, ".tbss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE | SHF_TLS,
				    f->data, 64, 0);
	uint32_t bss = add_section(f, ".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, f->names, 16, 0);
	add_section(f, ".lost", SHT_PROGBITS, SHF_ALLOC, f->data, 16, 0);
	f->s[f->section_count - 1].sh_addr = 0x9999999;
	assert_int_equal(f->s[bss].sh_addr, VA(data) + sizeof(f->data));
	assert_int_equal(f->s[tbss].sh_addr, VA(data));
	struct module *m = open_file(f);
	assert_int_equal(m->section_count, 4);
	for (uint32_t i = 1; i < m->section_count; i++)
		assert_true(m->sections[i - 1].va < m->sections[i].va);
	const struct section *text = module_section(m, ".text");
	assert_ptr_equal(module_section_at(m, VA(text) + 255), text);
	assert_null(module_section_at(m, VA(text) - 1));
	assert_int_equal(module_section_bytes(m, text)[7], 0x55);
	assert_true(text->execute && !text->write);
	assert_string_equal(module_section_at(m, VA(data))->name, ".data");
	assert_false(module_section(m, ".bss")->in_file);
	assert_true(module_is_code(m, VA(text)));
	assert_false(module_is_code(m, VA(data)));
	assert_true(has_note(m, "1 sections are not within a segment"));
	assert_int_equal(m->entry, VA(text));
	module_close(m);
}

static void bytes_come_from_segments(void **state)
{
	struct file *f = new_file();
	size_t n = 0;
	(void)state;
	f->text[0] = 0x77;
	struct module *m = open_file(f);
	assert_int_equal(*module_at(m, VA(text), UINT64_MAX, &n), 0x77);
	assert_int_equal(n, VA(data) - VA(text));
	assert_non_null(module_at(m, VA(data) + sizeof(f->data) - 1, 8, &n));
	assert_int_equal(n, 1);
	assert_null(module_at(m, VA(data) + sizeof(f->data), 8, &n));
	assert_null(module_at(m, BASE - 1, 8, &n));
	module_close(m);
}

static void overlapping_segments_are_cut(void **state)
{
	struct file *f = new_file();
	size_t n;
	(void)state;
	f->p[1].p_vaddr = VA(text) + 16;
	struct module *m = open_file(f);
	assert_non_null(module_at(m, VA(text) + 15, 8, &n));
	assert_int_equal(n, 1);
	module_close(m);
}

static void segments_stand_in_for_sections(void **state)
{
	struct file *f = new_file();
	(void)state;
	f->h.e_shoff = file_size - 8;
	struct module *m = open_file(f);
	assert_true(has_note(m, "section table is not within the file"));
	assert_int_equal(m->section_count, 3);
	assert_true(module_is_code(m, VA(text)));
	assert_false(m->sections[2].in_file);
	module_close(m);
	f = new_file();
	f->s[TEXT].sh_addr += 0x40;
	m = open_file(f);
	assert_true(has_note(m, "do not cover the program"));
	assert_int_equal(m->section_count, 3);
	module_close(m);
	f = new_file();
	f->h.e_shoff = f->h.e_shnum = 0;
	m = open_file(f);
	assert_int_equal(note_count(m), 0);
	assert_int_equal(m->section_count, 3);
	module_close(m);
}

static void symbols_are_classified(void **state)
{
	struct file *f = new_file();
	uint64_t text = VA(text);
	(void)state;
	add_symbol(f, false, "late", STB_LOCAL, STT_FUNC, TEXT, text + 64, 1000);
	add_symbol(f, false, "early@@V1", STB_GLOBAL, STT_FUNC, TEXT, text, 16);
	add_symbol(f, false, "label", STB_GLOBAL, STT_NOTYPE, TEXT, text + 8, 0);
	add_symbol(f, false, "inner", STB_LOCAL, STT_NOTYPE, TEXT, text + 9, 0);
	add_symbol(f, false, ".Lx", STB_GLOBAL, STT_NOTYPE, TEXT, text + 10, 0);
	add_symbol(f, false, "$d.3", STB_LOCAL, STT_NOTYPE, TEXT, text + 32, 0);
	add_symbol(f, false, "$x", STB_LOCAL, STT_NOTYPE, TEXT, text + 48, 0);
	add_symbol(f, false, "$d", STB_LOCAL, STT_NOTYPE, DATA, VA(data), 0);
	add_symbol(f, false, "object", STB_GLOBAL, STT_OBJECT, DATA, VA(data), 8);
	add_symbol(f, false, "absolute", STB_GLOBAL, STT_OBJECT, SHN_ABS, VA(data), 8);
	add_symbol(f, false, "nowhere", STB_GLOBAL, STT_FUNC, TEXT, 0x123456789, 8);
	add_symbol(f, false, "thread", STB_GLOBAL, STT_TLS, DATA, VA(data), 8);
	add_symbol(f, true, "early", STB_WEAK, STT_FUNC, TEXT, text, 20);
	add_symbol(f, true, "alias", STB_GLOBAL, STT_GNU_IFUNC, TEXT, text, 20);
	add_symbol(f, true, "undefined", STB_GLOBAL, STT_FUNC, SHN_UNDEF, text, 0);
	struct module *m = open_file(f);
	static const struct {
		const char *name;
		unsigned size, flags;
	} expected[] = {
		{"alias", 20, SYMBOL_GLOBAL | SYMBOL_DYNAMIC | SYMBOL_IFUNC},
		{"early", 20, SYMBOL_GLOBAL | SYMBOL_DYNAMIC},
		{"label", 0, SYMBOL_GLOBAL | SYMBOL_UNTYPED},
		{"$d.3", 0, SYMBOL_DATA_MARK},
		{"$x", 0, SYMBOL_CODE_MARK},
		{"late", 192, 0},
		{"object", 8, SYMBOL_GLOBAL | SYMBOL_OBJECT},
	};
	assert_int_equal(symbol_count(m), ARRAY_SIZE(expected));
	for (uint32_t i = 0; i < symbol_count(m); i++) {
		assert_string_equal(symbols_of(m)[i].name, expected[i].name);
		assert_int_equal(symbols_of(m)[i].size, expected[i].size);
		assert_int_equal(symbols_of(m)[i].flags, expected[i].flags);
	}
	assert_int_equal(module_symbol_from(m, 0), 0);
	assert_int_equal(module_symbol_from(m, text + 8), 2);
	assert_int_equal(module_symbol_from(m, text + 9), 3);
	assert_int_equal(module_symbol_from(m, UINT64_MAX), symbol_count(m));
	module_close(m);
}

static void damaged_symbol_tables_are_skipped(void **state)
{
	struct file *f = new_file();
	(void)state;
	add_symbol(f, false, "a", STB_GLOBAL, STT_FUNC, TEXT, VA(text), 4);
	f->symtab[1].st_name = 0x7fffffff;
	add_symbol(f, true, "b", STB_GLOBAL, STT_FUNC, TEXT, VA(text), 4);
	struct module *m = open_file(f);
	assert_int_equal(symbol_count(m), 1);
	assert_non_null(find_symbol(m, "b"));
	module_close(m);
	f = new_file();
	add_symbol(f, false, "a", STB_GLOBAL, STT_FUNC, TEXT, VA(text), 4);
	f->strings[sizeof(f->strings) - 1] = 'x';
	m = open_file(f);
	assert_int_equal(symbol_count(m), 0);
	assert_true(has_note(m, "symbol table .symtab is damaged"));
	module_close(m);
}

static void relocations_are_normalised(void **state)
{
	struct file *f = new_file();
	uint64_t data = VA(data), word = 0;
	(void)state;
	add_symbol(f, true, "there", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0);
	add_symbol(f, true, "here", STB_GLOBAL, STT_FUNC, TEXT, VA(text) + 4, 0);
	add_symbol(f, true, "chosen", STB_GLOBAL, STT_GNU_IFUNC, TEXT, VA(text) + 8, 0);
	add_rela(f, data + 24, R_AARCH64_RELATIVE, 0, 0x1234);
	add_rela(f, data, R_AARCH64_JUMP_SLOT, 1, 0);
	add_rela(f, data + 8, R_AARCH64_ABS64, 2, 16);
	add_rela(f, data + 16, R_AARCH64_GLOB_DAT, 3, 0);
	add_rela(f, data + 40, R_AARCH64_IRELATIVE, 0, 0x4321);
	add_rela(f, data + 48, R_AARCH64_TLS_TPREL, 0, 0);
	add_rela(f, 0x55555555, R_AARCH64_RELATIVE, 0, 0);
	add_rela(f, data + 56, R_AARCH64_ABS64, 999, 0);
	add_section(f, ".rela.dyn", SHT_RELA, SHF_ALLOC, f->rela, sizeof(f->rela), DYNSYM);
	struct module *m = open_file(f);
	static const struct {
		uint64_t offset, value;
		const char *symbol;
		uint8_t kind;
		bool defined, known;
	} expected[] = {
		{0, 0, "there", RELOC_JUMP_SLOT, false, false},
		{8, VA(text) + 4 + 16, "here", RELOC_SYMBOL, true, true},
		{16, VA(text) + 8, "chosen", RELOC_IFUNC, true, false},
		{24, 0x1234, NULL, RELOC_RELATIVE, false, true},
		{40, 0x4321, NULL, RELOC_IFUNC, false, false},
	};
	assert_int_equal(reloc_count(m), ARRAY_SIZE(expected));
	for (uint32_t i = 0; i < reloc_count(m); i++) {
		const struct reloc *r = &relocs_of(m)[i];
		assert_int_equal(r->va, data + expected[i].offset);
		assert_int_equal(r->value, expected[i].value);
		assert_int_equal(r->kind, expected[i].kind);
		assert_int_equal(r->defined, expected[i].defined);
		assert_int_equal(r->symbol != NULL, expected[i].symbol != NULL);
		if (r->symbol)
			assert_string_equal(r->symbol, expected[i].symbol);
		assert_int_equal(module_word(m, r->va, &word), expected[i].known);
		if (expected[i].known)
			assert_int_equal(word, r->value);
	}
	assert_null(module_reloc_at(m, data + 1));
	assert_false(module_word(m, data + 32, &word));
	uint32_t slots;
	module_slots(m, &slots);
	assert_int_equal(slots, ARRAY_SIZE(expected) - 1);
	for (uint32_t i = 0; i < ARRAY_SIZE(expected); i++) {
		const struct reloc *all = module_reloc_at(m, data + expected[i].offset),
				   *slot = module_slot_at(m, data + expected[i].offset);
		if (expected[i].kind == RELOC_RELATIVE)
			assert_null(slot);
		else
			assert_memory_equal(slot, all, sizeof(*all));
	}
	module_close(m);
}

static void packed_relocations_are_unpacked(void **state)
{
	struct file *f = new_file();
	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(f->data); i++)
		f->data[i] = 1000 + i;
	f->relr[0] = VA(data);
	f->relr[1] = 1 | 1 << 1 | 1 << 3;          /* words 1 and 3 */
	f->relr[2] = 1 | (uint64_t)1 << (64 - 63); /* word 64 */
	f->relr[3] = VA(data) + 72 * 8;
	add_section(f, ".relr.dyn", SHT_RELR, SHF_ALLOC, f->relr, sizeof(f->relr), 0);
	struct module *m = open_file(f);
	static const unsigned words[] = {0, 1, 3, 64, 72};
	assert_int_equal(reloc_count(m), ARRAY_SIZE(words));
	for (uint32_t i = 0; i < reloc_count(m); i++) {
		assert_int_equal(relocs_of(m)[i].va, VA(data) + 8 * words[i]);
		assert_int_equal(relocs_of(m)[i].value, 1000 + words[i]);
	}
	module_close(m);
}

static void words_of_fixed_executables_are_plain(void **state)
{
	struct file *f = new_file();
	uint64_t word = 0;
	(void)state;
	f->h.e_type = ET_EXEC;
	f->data[2] = 0xabcdef;
	struct module *m = open_file(f);
	assert_int_equal(m->kind, MODULE_EXECUTABLE);
	assert_true(module_word(m, VA(data) + 16, &word));
	assert_int_equal(word, 0xabcdef);
	assert_false(module_word(m, VA(data) + sizeof(f->data) - 4, &word));
	module_close(m);
}

/* Appends an entry of .eh_frame: length, id, the body, padding. Returns the entry's offset. */
static uint32_t add_entry(struct file *f, uint32_t *end, uint32_t id, const void *body,
			  uint32_t size)
{
	uint32_t at = *end, padded = (size + 3) & ~3u, length = 4 + padded;
	memcpy(f->eh_frame + at, &length, 4);
	memcpy(f->eh_frame + at + 4, &id, 4);
	memcpy(f->eh_frame + at + 8, body, size);
	*end = at + 4 + length;
	return at;
}

/* A range with pc-relative addresses; `rules` start at its first address. */
static void add_fde(struct file *f, uint32_t *end, uint32_t cie, uint64_t start, uint32_t size,
		    uint64_t lsda, const char *rules, uint32_t rules_size)
{
	uint8_t body[64] = {0};
	uint64_t here = VA(eh_frame) + *end + 8;
	uint32_t pc = (uint32_t)(start - here), table = (uint32_t)(lsda - (here + 9));
	memcpy(body, &pc, 4);
	memcpy(body + 4, &size, 4);
	body[8] = 4;
	if (lsda)
		memcpy(body + 9, &table, 4);
	memcpy(body + 13, rules, rules_size);
	add_entry(f, end, *end + 4 - cie, body, 13 + rules_size);
}

/* version 1, "zLR" or "zLRS", code align 4, data align -8, return register 30; cfa = sp + 0. */
static const char plain_cie[] = "\1zLR\0\4\x78\x1e\2\x1b\x1b\x0c\x1f\0";
static const char signal_cie[] = "\1zLRS\0\4\x78\x1e\2\x1b\x1b\x0c\x1f\0";

static struct module *open_with_frames(struct file *f)
{
	uint32_t end = 0, cie = add_entry(f, &end, 0, plain_cie, sizeof(plain_cie) - 1);
	uint64_t text = VA(text);
	add_fde(f, &end, cie, text + 64, 32, 0, "\x41\x0e\x10", 3);       /* advance, then offset */
	add_fde(f, &end, cie, text, 32, VA(lsda), "\x07\x1e", 2);         /* undefined x30 */
	add_fde(f, &end, cie, text + 96, 0, 0, "", 0);                    /* no length */
	add_fde(f, &end, cie, text + 100, 8, 0, "\x0e\x10\x9d\2\x41", 5); /* offset at once */
	add_fde(f, &end, cie, text + 110, 8, 0, "\x0c\x1f\0\x41", 4);     /* restates the state */
	add_fde(f, &end, cie, text + 120, 4, 0, "\x2d", 1); /* signed return address */
	add_fde(f, &end, cie, 0x99999999, 4, 0, "", 0);     /* not code */
	cie = add_entry(f, &end, 0, signal_cie, sizeof(signal_cie) - 1);
	add_fde(f, &end, cie, text + 240, 400, 0, "\x0f\1\x30", 3); /* cfa by an expression */
	add_section(f, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, f->eh_frame, end, 0);
	assert_true(end <= sizeof(f->eh_frame));
	return open_file(f);
}

static void frame_ranges_are_read(void **state)
{
	struct module *m = open_with_frames(new_file());
	static const struct {
		uint64_t start, end;
		bool lsda, signal, mid;
	} expected[] = {
		{0, 32, true, false, false},    {64, 96, false, false, false},
		{100, 108, false, false, true}, {110, 118, false, false, false},
		{120, 124, false, false, true}, {240, 256, false, true, false},
	};
	(void)state;
	assert_int_equal(note_count(m), 0);
	assert_int_equal(frame_count(m), ARRAY_SIZE(expected));
	for (uint32_t i = 0; i < frame_count(m); i++) {
		const struct frame_range *r = &frames_of(m)[i];
		assert_int_equal(r->start, VA(text) + expected[i].start);
		assert_int_equal(r->end, VA(text) + expected[i].end);
		assert_int_equal(r->lsda, expected[i].lsda ? VA(lsda) : 0);
		assert_int_equal(r->is_signal, expected[i].signal);
		assert_int_equal(r->mid_frame, expected[i].mid);
	}
	struct frame_range found;
	assert_true(module_frame_at(m, VA(text) + 95, &found));
	assert_int_equal(found.start, frames_of(m)[1].start);
	assert_false(module_frame_at(m, VA(text) + 96, &found));
	assert_false(module_frame_at(m, VA(text) - 1, &found));
	module_close(m);
}

static void damaged_frames_leave_a_note(void **state)
{
	struct file *f = new_file();
	uint32_t end = 0, cie = add_entry(f, &end, 0, plain_cie, sizeof(plain_cie) - 1);
	(void)state;
	add_fde(f, &end, cie, VA(text), 8, 0, "", 0);
	memset(f->eh_frame + end, 0x7f, 8);
	add_section(f, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, f->eh_frame, end + 8, 0);
	struct module *m = open_file(f);
	assert_int_equal(frame_count(m), 1);
	assert_true(has_note(m, ".eh_frame is damaged"));
	module_close(m);
}

/* The largest piece of memory that was copied: see unit_links in tests/meson.build. */
static size_t largest_copy;
void *__real_arena_memdup(struct arena *a, const void *p, size_t size, size_t align);
void *__wrap_arena_memdup(struct arena *a, const void *p, size_t size, size_t align);

void *__wrap_arena_memdup(struct arena *a, const void *p, size_t size, size_t align)
{
	largest_copy = size > largest_copy ? size : largest_copy;
	return __real_arena_memdup(a, p, size, align);
}

/* A .debug_frame with one range: version 1, no augmentation. */
static uint32_t make_debug_frame(uint8_t out[64])
{
	static const uint8_t cie[] = {12, 0, 0, 0,    0xff, 0xff, 0xff, 0xff,
				      1,  0, 4, 0x78, 0x1e, 0x0c, 0x1f, 0};
	const struct {
		uint32_t length, cie;
		uint64_t start, size;
	} fde = {20, 0, VA(text) + 8, 16};
	memcpy(out, cie, sizeof(cie));
	memcpy(out + sizeof(cie), &fde, sizeof(fde));
	return sizeof(cie) + sizeof(fde);
}

static void check_compressed_frames(uint32_t method)
{
	struct file *f = new_file();
	uint8_t plain[64];
	uint32_t size = make_debug_frame(plain);
	Elf64_Chdr h = {.ch_type = method, .ch_size = size, .ch_addralign = 8};
	uint8_t *packed = f->eh_frame + sizeof(h);
	uLongf made = sizeof(f->eh_frame) - sizeof(h);
	memcpy(f->eh_frame, &h, sizeof(h));
	if (method == 1)
		assert_int_equal(compress(packed, &made, plain, size), Z_OK);
	else
		made = ZSTD_compress(packed, made, plain, size, 1);
	add_section(f, ".debug_frame", SHT_PROGBITS, SHF_COMPRESSED, f->eh_frame, sizeof(h) + made,
		    0);
	largest_copy = 0;
	struct module *m = open_file(f);
	assert_int_equal(frame_count(m), 1);
	assert_int_equal(frames_of(m)[0].start, VA(text) + 8);
	assert_int_equal(frames_of(m)[0].end, VA(text) + 24);
	assert_true(largest_copy < file_size);
	module_close(m);
}

/* What is decompressed is the section, and no copy of the file is made for that. */
static void compressed_frames_are_read(void **state)
{
	(void)state;
	check_compressed_frames(1);
	check_compressed_frames(2);
}

static void landing_pads_are_read(void **state)
{
	/* pads from the function's start, no types, uleb: {20, 4, 28}, {4, 8, 0}, {8, 4, 100} */
	static const char table[] = "\xff\xff\1\x0c\x14\4\x1c\0\4\x08\0\0\x08\4\x64\1";
	struct file *f = new_file();
	(void)state;
	memcpy(f->lsda, table, sizeof(table));
	struct module *m = open_with_frames(f);
	assert_int_equal(landing_count(m), 2);
	assert_int_equal(landings_of(m)[0].start, VA(text) + 8);
	assert_int_equal(landings_of(m)[0].end, VA(text) + 12);
	assert_int_equal(landings_of(m)[0].pad, VA(text) + 100);
	assert_int_equal(landings_of(m)[1].start, VA(text) + 20);
	assert_int_equal(landings_of(m)[1].pad, VA(text) + 28);
	module_close(m);
}

static void debug_files_give_symbols_and_frames(void **state)
{
	struct file *f = new_file();
	(void)state;
	add_symbol(f, false, "hidden", STB_LOCAL, STT_FUNC, TEXT, VA(text) + 12, 4);
	f->s[TEXT].sh_type = SHT_NOBITS;
	f->s[DATA].sh_type = SHT_NOBITS;
	f->p[0].p_offset = 1 << 30; /* where it was before stripping */
	struct module *debug = open_file(f), *m = open_with_frames(new_file());
	size_t n;
	assert_true(debug->debug_only && !m->debug_only);
	assert_null(module_at(debug, VA(text), 8, &n));
	assert_false(module_section(debug, ".text")->in_file);
	assert_true(module_is_code(debug, VA(text)));
	assert_null(find_symbol(m, "hidden"));
	uint32_t frames = frame_count(m);
	module_add_symbols(m, debug);
	module_add_symbols(m, debug);
	module_add_frames(m, debug);
	assert_int_equal(frame_count(m), frames);
	module_add_frames(debug, m);
	assert_int_equal(frame_count(debug), frames);
	module_close(debug);
	assert_int_equal(symbol_count(m), 1);
	assert_int_equal(find_symbol(m, "hidden")->va, VA(text) + 12);
	module_close(m);
}

static void identity_is_read(void **state)
{
	static const uint8_t note[] = "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0\xde\xad\xbe\xef";
	struct file *f = new_file();
	char hex[65];
	(void)state;
	memcpy(f->note, note, sizeof(note));
	add_section(f, ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, f->note, 20, 0);
	memcpy(f->debuglink, "abc.debug\0\0\0\x78\x56\x34\x12", 16);
	add_section(f, ".gnu_debuglink", SHT_PROGBITS, 0, f->debuglink, 16, 0);
	struct module *m = open_file(f);
	build_id_hex(&m->build_id, hex);
	assert_string_equal(hex, "deadbeef");
	assert_string_equal(m->debuglink, "abc.debug");
	assert_int_equal(m->debuglink_crc, 0x12345678);
	module_close(m);
}

static struct module *open_self(void)
{
	struct module *m = NULL;
	struct err e = {0};
	if (module_open(&m, "/proc/self/exe", &e))
		fail_msg("%s", e.text);
	return m;
}

static void own_executable_is_read(void **state)
{
	struct module *m = open_self();
	const struct symbol *s = find_symbol(m, "main");
	struct build_id id;
	struct err e = {0};
	(void)state;
	assert_string_equal(m->path, "/proc/self/exe");
	assert_int_equal(note_count(m), 0);
	assert_true(m->kind == MODULE_PIE || m->kind == MODULE_EXECUTABLE);
	assert_true(module_is_code(m, m->entry));
	assert_non_null(s);
	struct frame_range f;
	assert_true(module_frame_at(m, s->va, &f));
	assert_int_equal(f.start, s->va);
	assert_int_equal(f.end, s->va + s->size);
	assert_int_equal(module_read_build_id("/proc/self/exe", &id, &e), 0);
	assert_int_equal(id.size, m->build_id.size);
	assert_memory_equal(id.bytes, m->build_id.bytes, id.size);
	assert_int_equal(module_read_build_id("/dev/null", &id, &e), ERR_INPUT);
	module_close(m);
}

/* Without its section table a module must still yield what the dynamic linker and the unwinder
 * need. */
static void check_same_range(const struct frame_range *a, const struct frame_range *b)
{
	assert_int_equal(a->start, b->start);
	assert_int_equal(a->end, b->end);
	assert_int_equal(a->lsda, b->lsda);
	assert_int_equal(a->is_signal, b->is_signal);
	assert_int_equal(a->mid_frame, b->mid_frame);
}

static void own_executable_without_sections(void **state)
{
	struct module *m = open_self(), *bare = NULL;
	struct err e = {0};
	uint8_t *copy = malloc(m->size);
	(void)state;
	memcpy(copy, lazy_file_at(m->file, 0, m->size), m->size);
	Elf64_Ehdr *h = (Elf64_Ehdr *)copy;
	h->e_shoff = 0;
	h->e_shnum = h->e_shstrndx = 0;
	assert_int_equal(module_open_memory(&bare, "bare", copy, m->size, &e), 0);
	free(copy);
	assert_int_equal(bare->kind, m->kind);
	assert_int_equal(reloc_count(bare), reloc_count(m));
	assert_int_equal(frame_count(bare), frame_count(m));
	for (uint32_t i = 0; i < frame_count(m); i++)
		check_same_range(&frames_of(bare)[i], &frames_of(m)[i]);
	for (uint32_t i = 0; i < reloc_count(m); i++)
		assert_int_equal(relocs_of(bare)[i].value, relocs_of(m)[i].value);
	uint32_t dynamic = 0;
	for (uint32_t i = 0; i < symbol_count(m); i++)
		dynamic += (symbols_of(m)[i].flags & SYMBOL_DYNAMIC) != 0;
	assert_int_equal(symbol_count(bare), dynamic);
	module_close(bare);
	module_close(m);
}

struct item {
	uint32_t number;
	uint64_t key;
};

static void check_order(uint32_t count, unsigned shift)
{
	struct item items[1000];
	bool seen[ARRAY_SIZE(items)] = {0};
	uint64_t seed = 1;
	for (uint32_t i = 0; i < count; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		items[i] = (struct item){.number = i, .key = seed >> shift >> 3 << 3};
		if (i % 3 == 0 && i)
			items[i].key = items[i - 1].key;
	}
	order_by_address(items, count, sizeof(*items), offsetof(struct item, key));
	for (uint32_t i = 0; i < count; i++) {
		assert_false(seen[items[i].number]);
		seen[items[i].number] = true;
		assert_true(!i || items[i - 1].key <= items[i].key);
		if (i && items[i - 1].key == items[i].key)
			assert_true(items[i - 1].number < items[i].number);
	}
}

static void order_is_stable(void **state)
{
	static const uint32_t counts[] = {0, 1, 2, 7, 64, 65, 1000};
	(void)state;
	for (unsigned shift = 0; shift < 60; shift += 7)
		for (unsigned i = 0; i < ARRAY_SIZE(counts); i++)
			check_order(counts[i], shift);
}

static void cursors_stop_at_the_end(void **state)
{
	static const uint8_t bytes[] = {0xe5, 0x8e, 0x26, 0x7f, 0x80, 0x80};
	struct cursor c = cursor_over(bytes, sizeof(bytes));
	(void)state;
	assert_int_equal(cursor_uleb(&c), 624485);
	assert_int_equal((int64_t)cursor_sleb(&c), -1);
	assert_false(c.bad);
	cursor_uleb(&c);
	assert_true(c.bad);
	assert_int_equal(cursor_u64(&c), 0);
	c = cursor_over(bytes, 3);
	assert_int_equal(cursor_u32(&c), 0);
	assert_true(c.bad);
	assert_true(bytes_inside(2, 3, 5) && !bytes_inside(3, 3, 5) && !bytes_inside(6, 0, 5));
	assert_false(bytes_inside(4, UINT64_MAX, 5));
}

/* ---- files that change after they were opened ---- */

/* A copy of this program, so large that it is not read at once, and the module in it. */
struct copied_file {
	char path[64];
	struct module *module;
	struct module *original;
	uint64_t last; /* va of the last 8 bytes in the file that are mapped */
};

static void append_copy(int to, const struct module *m)
{
	static const uint8_t zeros[4096];
	const uint8_t *bytes = lazy_file_at(m->file, 0, m->size);
	assert_int_equal(write(to, bytes, m->size), (ssize_t)m->size);
	for (size_t size = m->size; size <= 2 << 20; size += sizeof(zeros))
		assert_int_equal(write(to, zeros, sizeof(zeros)), sizeof(zeros));
}

static void open_copy(struct copied_file *c)
{
	struct err e;
	strcpy(c->path, "/tmp/test_module.XXXXXX");
	int fd = mkstemp(c->path);
	assert_true(fd >= 0);
	c->original = open_self();
	append_copy(fd, c->original);
	close(fd);
	assert_int_equal(module_open(&c->module, c->path, &e), 0);
	const struct segment *s = &c->module->segments[c->module->segment_count - 1];
	c->last = s->va + s->file_size - 8;
}

static void close_copy(struct copied_file *c)
{
	unlink(c->path);
	module_close(c->module);
	module_close(c->original);
}

static uint64_t word_at(const struct module *m, uint64_t va)
{
	uint64_t word;
	size_t n;
	const uint8_t *p = module_at(m, va, 8, &n);
	assert_true(p && n == 8);
	memcpy(&word, p, 8);
	return word;
}

static void deleted_file_is_read_on(void **state)
{
	struct copied_file c;
	(void)state;
	open_copy(&c);
	unlink(c.path);
	assert_int_equal(word_at(c.module, c.last), word_at(c.original, c.last));
	assert_int_equal(symbol_count(c.module), symbol_count(c.original));
	assert_null(module_problem(c.module));
	close_copy(&c);
}

static void replaced_file_is_read_on(void **state)
{
	struct copied_file c;
	char other[80];
	(void)state;
	open_copy(&c);
	snprintf(other, sizeof(other), "%s.new", c.path);
	FILE *f = fopen(other, "w");
	fputs("another file", f);
	fclose(f);
	assert_int_equal(rename(other, c.path), 0);
	assert_int_equal(word_at(c.module, c.last), word_at(c.original, c.last));
	assert_int_equal(frame_count(c.module), frame_count(c.original));
	assert_null(module_problem(c.module));
	close_copy(&c);
}

/* What was read before stays; the rest is zeros, and nothing breaks. */
static void check_lost(struct copied_file *c, uint64_t entry_word)
{
	uint32_t count;
	for (uint32_t i = 0; i < c->module->section_count; i++)
		if (c->module->sections[i].in_file)
			module_section_bytes(c->module, &c->module->sections[i]);
	assert_non_null(strstr(module_problem(c->module), "changed while it was read"));
	assert_int_equal(word_at(c->module, c->module->entry), entry_word);
	module_notes(c->module, &count);
	module_frame_count(c->module);
}

static void truncated_file_reads_as_zeros(void **state)
{
	struct copied_file c;
	(void)state;
	open_copy(&c);
	uint64_t word = word_at(c.module, c.module->entry);
	assert_int_equal(truncate(c.path, 100), 0);
	check_lost(&c, word);
	close_copy(&c);
}

static void overwritten_file_reads_as_zeros(void **state)
{
	struct copied_file c;
	(void)state;
	open_copy(&c);
	uint64_t word = word_at(c.module, c.module->entry);
	const struct timespec later[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	int fd = open(c.path, O_WRONLY);
	uint8_t *noise = malloc(c.module->size);
	memset(noise, 0xff, c.module->size);
	assert_int_equal(write(fd, noise, c.module->size), (ssize_t)c.module->size);
	free(noise);
	assert_int_equal(futimens(fd, later), 0); /* clocks of file systems are coarse */
	close(fd);
	check_lost(&c, word);
	close_copy(&c);
}

/* A look-up by the file's index gives what the table has, before and after the table is made. */
static void index_agrees_with_table(void **state)
{
	struct module *m = open_self(), *table = open_self();
	uint32_t count;
	const struct frame_range *all = module_frames(table, &count);
	struct frame_range f;
	(void)state;
	assert_true(m->reader->index.count > 0);
	assert_int_equal(module_frame_count(m), count);
	for (uint32_t i = 0; i < count; i++) {
		assert_true(module_frame(m, i, &f));
		check_same_range(&f, &all[i]);
		assert_true(module_frame_at(m, all[i].end - 1, &f));
		check_same_range(&f, &all[i]);
		assert_int_equal(module_frame_after(m, all[i].start),
				 i + 1 < count ? all[i + 1].start : UINT64_MAX);
	}
	assert_int_equal(module_frame_at(m, all[0].start - 1, &f), false);
	assert_false(atomic_load(&m->reader->tables[TABLE_FRAMES].made));
	module_close(m);
	module_close(table);
}

static void *use_tables(void *ctx)
{
	const struct module *m = ctx;
	uint64_t sum = symbol_count(m) + frame_count(m) + reloc_count(m) + landing_count(m);
	for (uint32_t i = 0; i < frame_count(m); i++)
		sum += word_at(m, frames_of(m)[i].start);
	return (void *)(uintptr_t)sum;
}

static void threads_share_a_module(void **state)
{
	enum { THREADS = 4 };
	struct copied_file c;
	pthread_t thread[THREADS];
	void *sum[THREADS];
	(void)state;
	open_copy(&c);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, use_tables, c.module), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], &sum[i]);
	for (int i = 0; i < THREADS; i++)
		assert_ptr_equal(sum[i], use_tables(c.original));
	close_copy(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_files_are_named),
		cmocka_unit_test(foreign_elf_is_named),
		cmocka_unit_test(truncated_files_are_refused),
		cmocka_unit_test(unusable_paths_are_explained),
		cmocka_unit_test(sections_are_sorted_and_mapped),
		cmocka_unit_test(bytes_come_from_segments),
		cmocka_unit_test(overlapping_segments_are_cut),
		cmocka_unit_test(segments_stand_in_for_sections),
		cmocka_unit_test(symbols_are_classified),
		cmocka_unit_test(damaged_symbol_tables_are_skipped),
		cmocka_unit_test(relocations_are_normalised),
		cmocka_unit_test(packed_relocations_are_unpacked),
		cmocka_unit_test(words_of_fixed_executables_are_plain),
		cmocka_unit_test(frame_ranges_are_read),
		cmocka_unit_test(damaged_frames_leave_a_note),
		cmocka_unit_test(compressed_frames_are_read),
		cmocka_unit_test(landing_pads_are_read),
		cmocka_unit_test(debug_files_give_symbols_and_frames),
		cmocka_unit_test(identity_is_read),
		cmocka_unit_test(own_executable_is_read),
		cmocka_unit_test(own_executable_without_sections),
		cmocka_unit_test(order_is_stable),
		cmocka_unit_test(cursors_stop_at_the_end),
		cmocka_unit_test(deleted_file_is_read_on),
		cmocka_unit_test(replaced_file_is_read_on),
		cmocka_unit_test(truncated_file_reads_as_zeros),
		cmocka_unit_test(overwritten_file_reads_as_zeros),
		cmocka_unit_test(index_agrees_with_table),
		cmocka_unit_test(threads_share_a_module),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
