/* The DWARF reader, on files made here byte by byte: a unit with a namespace, a type, calls inlined
 * into each other and a function that the linker threw away. */
#include <dirent.h>
#include <dwarf.h>
#include <elf.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/text.h"
#include "base/vec.h"
#include "module/debug.h"

enum { TEXT_VA = 0x1000, TEXT_SIZE = 0x200 };

static void put(struct text *t, uint64_t v, size_t bytes)
{
	text_addn(t, (const char *)&v, bytes);
}

static void put_string(struct text *t, const char *s)
{
	text_addn(t, s, strlen(s) + 1);
}

static void put_list(struct text *t, const uint8_t *bytes)
{
	for (; *bytes != 0xee; bytes++)
		text_char(t, (char)*bytes);
}

/* Bytes up to 0xee, which is no part of them. */
#define PUT(t, ...) put_list(t, (const uint8_t[]){__VA_ARGS__, 0xee})

static void patch32(struct text *t, size_t at, uint64_t v)
{
	memcpy(t->data + at, &v, 4);
}

struct dwarf {
	struct text abbrev, info, line;
};

static void dwarf_release(struct dwarf *d)
{
	text_release(&d->abbrev);
	text_release(&d->info);
	text_release(&d->line);
}

enum {
	UNIT = 1,
	NAMESPACE,
	TYPE,
	MEMBER,
	ABSTRACT_MEMBER,
	FUNCTION,
	INLINED,
	BLOCK,
	VARIABLE,
	ABSTRACT
};

static void put_abbrevs(struct text *t)
{
	PUT(t, UNIT, DW_TAG_compile_unit, 1, DW_AT_language, DW_FORM_data1, DW_AT_name,
	    DW_FORM_string, DW_AT_comp_dir, DW_FORM_string, DW_AT_low_pc, DW_FORM_addr,
	    DW_AT_high_pc, DW_FORM_data4, DW_AT_stmt_list, DW_FORM_sec_offset, 0, 0);
	PUT(t, NAMESPACE, DW_TAG_namespace, 1, DW_AT_name, DW_FORM_string, 0, 0);
	PUT(t, TYPE, DW_TAG_structure_type, 1, DW_AT_name, DW_FORM_string, 0, 0);
	PUT(t, MEMBER, DW_TAG_subprogram, 0, DW_AT_name, DW_FORM_string, DW_AT_decl_file,
	    DW_FORM_data1, DW_AT_decl_line, DW_FORM_data1, DW_AT_linkage_name, DW_FORM_string,
	    DW_AT_declaration, DW_FORM_flag_present, 0, 0);
	PUT(t, ABSTRACT_MEMBER, DW_TAG_subprogram, 0, DW_AT_specification, DW_FORM_ref4,
	    DW_AT_decl_line, DW_FORM_data1, DW_AT_inline, DW_FORM_data1, 0, 0);
	PUT(t, FUNCTION, DW_TAG_subprogram, 1, DW_AT_name, DW_FORM_string, DW_AT_decl_file,
	    DW_FORM_data1, DW_AT_decl_line, DW_FORM_data1, DW_AT_low_pc, DW_FORM_addr,
	    DW_AT_high_pc, DW_FORM_data4, 0, 0);
	PUT(t, INLINED, DW_TAG_inlined_subroutine, 1, DW_AT_abstract_origin, DW_FORM_ref4,
	    DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4, DW_AT_call_file,
	    DW_FORM_data1, DW_AT_call_line, DW_FORM_data1, DW_AT_call_column, DW_FORM_data1, 0, 0);
	PUT(t, BLOCK, DW_TAG_lexical_block, 1, 0, 0);
	PUT(t, VARIABLE, DW_TAG_variable, 0, DW_AT_location, DW_FORM_exprloc, 0, 0);
	PUT(t, ABSTRACT, DW_TAG_subprogram, 0, DW_AT_name, DW_FORM_string, DW_AT_decl_file,
	    DW_FORM_data1, DW_AT_decl_line, DW_FORM_data1, DW_AT_inline, DW_FORM_data1, 0, 0);
	put(t, 0, 1);
}

static void put_function(struct text *t, const char *name, uint64_t line, uint64_t va,
			 uint64_t size)
{
	put(t, FUNCTION, 1);
	put_string(t, name);
	put(t, 1, 1);
	put(t, line, 1);
	put(t, va, 8);
	put(t, size, 4);
}

static void put_inlined(struct text *t, uint64_t origin, uint64_t va, uint64_t size, uint64_t line)
{
	put(t, INLINED, 1);
	put(t, origin, 4);
	put(t, va, 8);
	put(t, size, 4);
	PUT(t, 1, (uint8_t)line, 7);
}

/* namespace ns { struct S { get() } }, leaf() in get() in main(); gone() was discarded. */
static void put_info(struct text *t, unsigned language)
{
	put(t, 0, 4);
	PUT(t, 5, 0, DW_UT_compile, 8, 0, 0, 0, 0);
	PUT(t, UNIT, (uint8_t)language);
	put_string(t, "a.cc");
	put_string(t, "/src");
	put(t, TEXT_VA, 8);
	put(t, 0x100, 4);
	put(t, 0, 4);

	put(t, NAMESPACE, 1);
	put_string(t, "ns");
	put(t, TYPE, 1);
	put_string(t, "S");
	uint64_t member = t->len;
	put(t, MEMBER, 1);
	put_string(t, "get");
	PUT(t, 2, 5);
	put_string(t, "_ZN2ns1S3getEv");
	PUT(t, 0, 0); /* end of S, of ns */

	uint64_t get = t->len;
	put(t, ABSTRACT_MEMBER, 1);
	put(t, member, 4);
	PUT(t, 40, 1);
	uint64_t leaf = t->len;
	put(t, ABSTRACT, 1);
	put_string(t, "leaf");
	PUT(t, 1, 3, 1);

	put_function(t, "main", 10, TEXT_VA, 0x80);
	PUT(t, VARIABLE, 2, DW_OP_fbreg, 0);
	put_inlined(t, get, TEXT_VA + 0x10, 0x30, 12);
	put(t, BLOCK, 1);
	put_inlined(t, leaf, TEXT_VA + 0x20, 0x10, 42);
	PUT(t, 0, 0, 0, 0); /* end of leaf, block, get, main */
	put_function(t, "other", 60, TEXT_VA + 0x80, 0x80);
	put(t, 0, 1);
	put_function(t, "gone", 70, 0, 0x2000);
	PUT(t, 0, 0); /* end of gone, of the unit */
	patch32(t, 0, t->len - 4);
}

static void put_sequence(struct text *t, uint64_t va)
{
	PUT(t, 0, 9, DW_LNE_set_address);
	put(t, va, 8);
}

static void put_line(struct text *t)
{
	put(t, 0, 4);
	PUT(t, 5, 0, 8, 0);
	size_t header = t->len;
	put(t, 0, 4);
	PUT(t, 1, 1, 1, (uint8_t)-3, 12, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1);
	PUT(t, 1, DW_LNCT_path, DW_FORM_string, 2);
	put_string(t, "/src");
	put_string(t, "inc/./x");
	PUT(t, 2, DW_LNCT_path, DW_FORM_string, DW_LNCT_directory_index, DW_FORM_udata, 3);
	put_string(t, "a.cc");
	put(t, 0, 1);
	put_string(t, "a.cc");
	put(t, 0, 1);
	put_string(t, "b.h");
	put(t, 1, 1);
	patch32(t, header, t->len - header - 4);

	put_sequence(t, TEXT_VA + 0x80); /* after the other in address, before it in the table */
	PUT(t, DW_LNS_advance_line, 0x3b, DW_LNS_copy, DW_LNS_advance_pc, 0x80, 1, 0, 1,
	    DW_LNE_end_sequence);
	put_sequence(t, 0); /* discarded, and so long that it would cover all the rest */
	PUT(t, DW_LNS_advance_line, 0x45, DW_LNS_copy);
	PUT(t, DW_LNS_advance_pc, 0x90, 0x20, DW_LNS_advance_line, 1, DW_LNS_copy);
	PUT(t, DW_LNS_advance_pc, 0x80, 0x20, 0, 1, DW_LNE_end_sequence);
	put_sequence(t, TEXT_VA);
	PUT(t, DW_LNS_advance_line, 9, DW_LNS_copy); /* line 10 */
	PUT(t, DW_LNS_advance_line, 1, DW_LNS_copy); /* line 11, same address */
	PUT(t, DW_LNS_advance_pc, 0x10, DW_LNS_set_file, 2, DW_LNS_advance_line, 30, DW_LNS_copy);
	PUT(t, DW_LNS_advance_pc, 0x70, 0, 1, DW_LNE_end_sequence);
	patch32(t, 0, t->len - 4);
}

static struct dwarf dwarf_make(unsigned language)
{
	struct dwarf d = {0};
	put_abbrevs(&d.abbrev);
	put_info(&d.info, language);
	put_line(&d.line);
	return d;
}

struct part {
	const char *name;
	const char *data;
	size_t size;
	uint64_t flags;
	uint64_t va;
};

static char code[TEXT_SIZE];

/* An ELF file of one segment, which is its first section, and the sections given. */
static struct text elf_make(const struct part *parts, unsigned count)
{
	struct text t = TEXT_INIT, names = TEXT_INIT, headers = TEXT_INIT;
	Elf64_Ehdr h = {.e_type = ET_EXEC,
			.e_machine = EM_AARCH64,
			.e_version = 1,
			.e_entry = TEXT_VA,
			.e_phoff = sizeof(h),
			.e_ehsize = sizeof(h),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = (uint16_t)(count + 2),
			.e_shstrndx = (uint16_t)(count + 1)};
	memcpy(h.e_ident, ELFMAG "\2\1\1", 7);
	Elf64_Phdr p = {.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_offset = TEXT_VA,
			.p_vaddr = TEXT_VA,
			.p_paddr = TEXT_VA,
			.p_filesz = TEXT_SIZE,
			.p_memsz = TEXT_SIZE,
			.p_align = 0x1000};
	Elf64_Shdr s = {0};
	text_fill(&t, 0, TEXT_VA);
	put(&names, 0, 1);
	text_addn(&headers, (const char *)&s, sizeof(s));
	for (unsigned i = 0; i <= count; i++) {
		static const struct part last = {".shstrtab", NULL, 0, 0, 0};
		const struct part *part = i < count ? &parts[i] : &last;
		s = (Elf64_Shdr){.sh_type = i < count ? SHT_PROGBITS : SHT_STRTAB,
				 .sh_name = (uint32_t)names.len,
				 .sh_flags = part->flags,
				 .sh_addr = part->va,
				 .sh_addralign = 1,
				 .sh_offset = t.len};
		put_string(&names, part->name);
		s.sh_size = i < count ? part->size : names.len;
		text_addn(&t, i < count ? part->data : names.data, s.sh_size);
		text_addn(&headers, (const char *)&s, sizeof(s));
	}
	text_fill(&t, 0, -t.len & 7);
	h.e_shoff = t.len;
	text_addn(&t, headers.data, headers.len);
	memcpy(t.data, &h, sizeof(h));
	memcpy(t.data + sizeof(h), &p, sizeof(p));
	text_release(&names);
	text_release(&headers);
	return t;
}

static struct text elf_with(const struct dwarf *d)
{
	struct part parts[] = {
		{".text", code, sizeof(code), SHF_ALLOC | SHF_EXECINSTR, TEXT_VA},
		{".debug_abbrev", d->abbrev.data, d->abbrev.len, 0, 0},
		{".debug_info", d->info.data, d->info.len, 0, 0},
		{".debug_line", d->line.data, d->line.len, 0, 0},
	};
	return elf_make(parts, ARRAY_SIZE(parts));
}

/* A module and its debugging information. */
struct opened {
	struct module *module;
	struct debug *d;
};

static struct opened open_text(const struct text *t)
{
	struct opened o = {0};
	struct err e;
	if (module_open_memory(&o.module, "test", t->data, t->len, &e) != 0)
		fail_msg("%s", e.text);
	if (debug_open(&o.d, o.module, NULL, &e) != 0)
		o.d = NULL;
	return o;
}

static struct opened open_language(unsigned language)
{
	struct dwarf d = dwarf_make(language);
	struct text t = elf_with(&d);
	struct opened o = open_text(&t);
	text_release(&t);
	dwarf_release(&d);
	assert_non_null(o.d);
	return o;
}

static void close_opened(struct opened *o)
{
	debug_close(o->d);
	module_close(o->module);
}

static const struct debug_scope *scope_at(const struct debug_unit *u, uint64_t va)
{
	uint32_t i = debug_scope_at(u, va);
	return i == DEBUG_NONE ? NULL : &u->scopes[i];
}

static const char *file_of(const struct debug_unit *u, uint32_t file)
{
	return file == DEBUG_NONE ? "" : u->files[file];
}

static void inlined_calls_form_a_chain(void **state)
{
	(void)state;
	struct opened o = open_language(DW_LANG_C_plus_plus_14);
	assert_int_equal(debug_unit_count(o.d), 1);
	assert_int_equal(debug_unit_at(o.d, TEXT_VA + 0x24), 0);
	struct debug_unit *u = debug_unit_load(o.d, 0);

	const struct debug_scope *leaf = scope_at(u, TEXT_VA + 0x24);
	assert_string_equal(leaf->name, "leaf");
	assert_true(leaf->inlined);
	assert_int_equal(leaf->call_line, 42);
	assert_int_equal(leaf->call_column, 7);
	assert_string_equal(file_of(u, leaf->call_file), "/src/a.cc");
	assert_int_equal(leaf->decl_line, 3);

	const struct debug_scope *get = &u->scopes[leaf->parent];
	assert_ptr_equal(get, scope_at(u, TEXT_VA + 0x10));
	assert_ptr_equal(get, scope_at(u, TEXT_VA + 0x3f));
	assert_string_equal(get->name, "ns::S::get");
	assert_string_equal(get->linkage, "_ZN2ns1S3getEv");
	assert_int_equal(get->decl_line, 40); /* the definition's, not the declaration's */
	assert_string_equal(file_of(u, get->decl_file), "/src/inc/x/b.h");

	const struct debug_scope *main_scope = &u->scopes[get->parent];
	assert_ptr_equal(main_scope, scope_at(u, TEXT_VA + 0x40));
	assert_string_equal(main_scope->name, "main");
	assert_false(main_scope->inlined);
	assert_int_equal(main_scope->parent, DEBUG_NONE);
	assert_true(u->has_inlining);
	debug_unit_free(u);
	close_opened(&o);
}

static void names_in_c_are_plain(void **state)
{
	(void)state;
	struct opened o = open_language(DW_LANG_C11);
	struct debug_unit *u = debug_unit_load(o.d, 0);
	assert_string_equal(scope_at(u, TEXT_VA + 0x10)->name, "get");
	debug_unit_free(u);
	close_opened(&o);
}

static void discarded_code_is_left_out(void **state)
{
	(void)state;
	struct opened o = open_language(DW_LANG_C11);
	struct debug_unit *u = debug_unit_load(o.d, 0);
	assert_int_equal(u->scope_count, 4);
	assert_int_equal(u->entry_count, 2);
	assert_int_equal(u->entries[0].start, TEXT_VA);
	assert_int_equal(u->entries[1].start, TEXT_VA + 0x80);
	assert_null(scope_at(u, TEXT_VA + 0x100));
	assert_int_equal(debug_unit_at(o.d, TEXT_VA + 0x100), DEBUG_NONE);
	assert_int_equal(debug_unit_at(o.d, 0x10), DEBUG_NONE);
	debug_unit_free(u);
	close_opened(&o);
}

static void definitions_without_code_are_listed(void **state)
{
	static const struct {
		const char *name;
		unsigned line;
	} expected[] = {{"leaf", 3}, {"gone", 70}, {"ns::S::get", 40}};
	(void)state;
	struct opened o = open_language(DW_LANG_C_plus_plus_14);
	struct debug_unit *u = debug_unit_load(o.d, 0);
	assert_int_equal(u->decl_count, ARRAY_SIZE(expected));
	unsigned found = 0;
	for (uint32_t i = 0; i < u->decl_count; i++)
		for (size_t k = 0; k < ARRAY_SIZE(expected); k++)
			found += u->decls[i].line == expected[k].line &&
				 !strcmp(u->decls[i].name, expected[k].name);
	assert_int_equal(found, ARRAY_SIZE(expected));
	for (uint32_t i = 1; i < u->decl_count; i++)
		assert_true(u->decls[i - 1].file < u->decls[i].file ||
			    (u->decls[i - 1].file == u->decls[i].file &&
			     u->decls[i - 1].line < u->decls[i].line));
	debug_unit_free(u);
	close_opened(&o);
}

static void lines_are_sorted_and_true(void **state)
{
	static const struct {
		uint64_t va;
		const char *file;
		unsigned line;
	} expected[] = {
		{TEXT_VA, "/src/a.cc", 11},
		{TEXT_VA + 0xf, "/src/a.cc", 11},
		{TEXT_VA + 0x10, "/src/inc/x/b.h", 41},
		{TEXT_VA + 0x7f, "/src/inc/x/b.h", 41},
		{TEXT_VA + 0x80, "/src/a.cc", 60},
		{TEXT_VA + 0xff, "/src/a.cc", 60},
	};
	(void)state;
	struct opened o = open_language(DW_LANG_C11);
	struct debug_unit *u = debug_unit_load(o.d, 0);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		const struct debug_line *l = debug_line_at(u, expected[i].va);
		assert_non_null(l);
		assert_int_equal(l->line, expected[i].line);
		assert_string_equal(file_of(u, l->file), expected[i].file);
	}
	assert_null(debug_line_at(u, TEXT_VA - 1));
	assert_null(debug_line_at(u, TEXT_VA + 0x100));
	assert_int_equal(u->line_count, 6); /* lines 10 and 11 begin at one address */
	assert_int_equal(u->file_count, 2); /* files 0 and 1 are the same */
	debug_unit_free(u);
	close_opened(&o);
}

static void a_clone_outlives_its_original(void **state)
{
	(void)state;
	struct opened o = open_language(DW_LANG_C_plus_plus_14);
	struct debug *clone;
	struct err e;
	assert_int_equal(debug_clone(&clone, o.d, &e), 0);
	debug_close(o.d);
	o.d = clone;
	struct debug_unit *u = debug_unit_load(clone, debug_unit_at(clone, TEXT_VA));
	assert_string_equal(scope_at(u, TEXT_VA + 0x10)->name, "ns::S::get");
	debug_unit_free(u);
	close_opened(&o);
}

static void compressed_sections_are_read(void **state)
{
	(void)state;
	struct dwarf d = dwarf_make(DW_LANG_C11);
	char packed[1000], old[1000];
	uLongf size = sizeof(packed) - 24, old_size = sizeof(old) - 12;
	Elf64_Chdr c = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = d.info.len, .ch_addralign = 1};
	uint64_t big = __builtin_bswap64(d.line.len);
	memcpy(packed, &c, sizeof(c));
	memcpy(old, "ZLIB", 4);
	memcpy(old + 4, &big, 8);
	compress((Bytef *)packed + sizeof(c), &size, (Bytef *)d.info.data, d.info.len);
	compress((Bytef *)old + 12, &old_size, (Bytef *)d.line.data, d.line.len);
	struct part parts[] = {
		{".text", code, sizeof(code), SHF_ALLOC | SHF_EXECINSTR, TEXT_VA},
		{".debug_abbrev", d.abbrev.data, d.abbrev.len, 0, 0},
		{".debug_info", packed, size + sizeof(c), SHF_COMPRESSED, 0},
		{".zdebug_line", old, old_size + 12, 0, 0},
	};
	struct text t = elf_make(parts, ARRAY_SIZE(parts));
	struct opened o = open_text(&t);
	assert_non_null(o.d);
	struct debug_unit *u = debug_unit_load(o.d, 0);
	assert_int_equal(u->scope_count, 4);
	assert_int_equal(u->line_count, 6);
	debug_unit_free(u);
	close_opened(&o);
	text_release(&t);
	dwarf_release(&d);
}

/* Compresses a section, with a header. To be freed. */
static struct text packed_section(const char *bytes, size_t n)
{
	struct text t = TEXT_INIT;
	uLongf size = compressBound(n);
	Elf64_Chdr c = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = n, .ch_addralign = 1};
	char *room = malloc(size);
	assert_non_null(room);
	assert_int_equal(compress((Bytef *)room, &size, (const Bytef *)bytes, n), Z_OK);
	text_addn(&t, (const char *)&c, sizeof(c));
	text_addn(&t, room, size);
	free(room);
	return t;
}

/* A file whose inflated sections are large enough for the cache. */
static struct text elf_with_large_strings(const struct dwarf *d)
{
	enum { STRINGS = 2 << 20 };
	char *strings = malloc(STRINGS);
	uint32_t x = 1;
	assert_non_null(strings);
	for (size_t i = 0; i < STRINGS; i++, x = x * 1103515245u + 12345u)
		strings[i] = (char)('0' + (x >> 16) % 10);
	strings[STRINGS - 1] = '\0';
	struct text info = packed_section(d->info.data, d->info.len);
	struct text str = packed_section(strings, STRINGS);
	struct part parts[] = {
		{".text", code, sizeof(code), SHF_ALLOC | SHF_EXECINSTR, TEXT_VA},
		{".debug_abbrev", d->abbrev.data, d->abbrev.len, 0, 0},
		{".debug_info", info.data, info.len, SHF_COMPRESSED, 0},
		{".debug_str", str.data, str.len, SHF_COMPRESSED, 0},
	};
	struct text t = elf_make(parts, ARRAY_SIZE(parts));
	text_release(&info);
	text_release(&str);
	free(strings);
	return t;
}

static void check_cached(const struct text *t, bool use_cache)
{
	const struct debug_options options = {.use_cache = use_cache};
	struct opened o = {0};
	struct err e;
	assert_int_equal(module_open_memory(&o.module, "test", t->data, t->len, &e), 0);
	o.module->build_id = (struct build_id){.size = 4, .bytes = {1, 2, 3, 4}};
	assert_int_equal(debug_open(&o.d, o.module, &options, &e), 0);
	struct debug_unit *u = debug_unit_load(o.d, 0);
	assert_int_equal(u->scope_count, 4);
	debug_unit_free(u);
	close_opened(&o);
}

/* The number of files in the folder; `last` is the path of one of them. */
static unsigned count_files(const char *folder, char *last)
{
	unsigned count = 0;
	DIR *d = opendir(folder);
	for (struct dirent *x; d && (x = readdir(d));)
		if (x->d_name[0] != '.') {
			snprintf(last, PATH_MAX, "%s/%s", folder, x->d_name);
			count++;
		}
	if (d)
		closedir(d);
	return count;
}

static void inflated_sections_are_cached(void **state)
{
	(void)state;
	char root[] = "/tmp/sonde-dwarf-XXXXXX", folder[64], file[PATH_MAX];
	struct dwarf d = dwarf_make(DW_LANG_C11);
	struct text t = elf_with_large_strings(&d);
	assert_non_null(mkdtemp(root));
	setenv("XDG_CACHE_HOME", root, 1);
	snprintf(folder, sizeof(folder), "%s/sonde", root);
	check_cached(&t, false);
	assert_int_equal(count_files(folder, file), 0);
	check_cached(&t, true);
	assert_int_equal(count_files(folder, file), 1);
	check_cached(&t, true);
	/* Whatever is in the file, it is only used if it is what was written. */
	FILE *f = fopen(file, "r+");
	assert_non_null(f);
	for (int i = 0; i < 4000; i++)
		fputc(i, f);
	fclose(f);
	check_cached(&t, true);
	assert_int_equal(count_files(folder, file), 1);
	unlink(file);
	rmdir(folder);
	rmdir(root);
	text_release(&t);
	dwarf_release(&d);
}

static void write_file(const char *path, const struct text *t)
{
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(t->data, 1, t->len, f), t->len);
	fclose(f);
}

/* A file without DWARF that links to "x.debug" with this CRC. */
static struct text elf_linked(uint32_t crc)
{
	char link[12] = "x.debug";
	memcpy(link + 8, &crc, 4);
	struct part parts[] = {
		{".text", code, sizeof(code), SHF_ALLOC | SHF_EXECINSTR, TEXT_VA},
		{".gnu_debuglink", link, sizeof(link), 0, 0},
	};
	return elf_make(parts, ARRAY_SIZE(parts));
}

static bool finds_link(const char *program)
{
	struct module *m;
	struct debug *d;
	struct err e;
	assert_int_equal(module_open(&m, program, &e), 0);
	assert_int_equal(debug_open(&d, m, NULL, &e), 0);
	bool found = d && debug_file(d) && debug_unit_at(d, TEXT_VA) == 0;
	debug_close(d);
	module_close(m);
	return found;
}

static void debug_links_are_followed_if_the_crc_is_right(void **state)
{
	(void)state;
	char directory[] = "/tmp/sonde-debug-XXXXXX", program[PATH_MAX], file[PATH_MAX];
	assert_non_null(mkdtemp(directory));
	snprintf(program, sizeof(program), "%s/x", directory);
	snprintf(file, sizeof(file), "%s/.debug", directory);
	mkdir(file, 0700);
	snprintf(file, sizeof(file), "%s/.debug/x.debug", directory);

	struct dwarf d = dwarf_make(DW_LANG_C11);
	struct text separate = elf_with(&d);
	uint32_t crc = (uint32_t)crc32(0, (const Bytef *)separate.data, (uInt)separate.len);
	struct text right = elf_linked(crc), wrong = elf_linked(crc + 1);
	write_file(file, &separate);
	write_file(program, &right);
	assert_true(finds_link(program));
	write_file(program, &wrong);
	assert_false(finds_link(program));

	unlink(program);
	unlink(file);
	*strrchr(file, '/') = '\0';
	rmdir(file);
	rmdir(directory);
	text_release(&separate);
	text_release(&right);
	text_release(&wrong);
	dwarf_release(&d);
}

static void check_unit(const struct debug_unit *u)
{
	for (uint32_t i = 0; i < u->scope_count; i++) {
		const struct debug_scope *s = &u->scopes[i];
		assert_true(s->parent == DEBUG_NONE || s->parent < i);
		assert_true(s->decl_file == DEBUG_NONE || s->decl_file < u->file_count);
		assert_true(s->call_file == DEBUG_NONE || s->call_file < u->file_count);
		assert_true(s->range_count && s->first_range + s->range_count <= u->range_count);
		assert_non_null(s->name);
	}
	for (uint32_t i = 1; i < u->line_count; i++)
		assert_true(u->lines[i - 1].va <= u->lines[i].va);
	for (uint32_t i = 1; i < u->innermost_count; i++)
		assert_true(u->innermost[i - 1].end <= u->innermost[i].start);
}

static void read_damaged(const struct dwarf *d)
{
	struct text t = elf_with(d);
	struct opened o = open_text(&t);
	for (uint32_t i = 0; o.d && i < debug_unit_count(o.d); i++) {
		struct debug_unit *u = debug_unit_load(o.d, i);
		check_unit(u);
		debug_unit_free(u);
	}
	close_opened(&o);
	text_release(&t);
}

static void truncated_sections_do_no_harm(void **state)
{
	(void)state;
	struct dwarf d = dwarf_make(DW_LANG_C_plus_plus_14), part;
	for (part = d; part.info.len; part.info.len--)
		read_damaged(&part);
	for (part = d; part.abbrev.len; part.abbrev.len--)
		read_damaged(&part);
	for (part = d; part.line.len; part.line.len--)
		read_damaged(&part);
	dwarf_release(&d);
}

static void damaged_bytes_do_no_harm(void **state)
{
	(void)state;
	struct dwarf d = dwarf_make(DW_LANG_C_plus_plus_14);
	struct text *sections[] = {&d.info, &d.abbrev, &d.line};
	static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
	for (size_t s = 0; s < ARRAY_SIZE(sections); s++) {
		for (size_t i = 0; i < sections[s]->len; i++) {
			char saved = sections[s]->data[i];
			for (size_t v = 0; v < ARRAY_SIZE(values); v++) {
				sections[s]->data[i] = (char)values[v];
				read_damaged(&d);
			}
			sections[s]->data[i] = saved;
		}
	}
	dwarf_release(&d);
}

/* A unit whose entries contain each other without end. */
static void absurd_nesting_is_survived(void **state)
{
	(void)state;
	struct dwarf d = dwarf_make(DW_LANG_C_plus_plus_14);
	d.info.len -= 2;
	for (unsigned i = 0; i < 5000; i++) {
		put_function(&d.info, "deep", 1, TEXT_VA, 0x80);
		put(&d.info, NAMESPACE, 1);
		put_string(&d.info, "n");
	}
	patch32(&d.info, 0, d.info.len - 4);
	read_damaged(&d);
	dwarf_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inlined_calls_form_a_chain),
		cmocka_unit_test(names_in_c_are_plain),
		cmocka_unit_test(discarded_code_is_left_out),
		cmocka_unit_test(definitions_without_code_are_listed),
		cmocka_unit_test(lines_are_sorted_and_true),
		cmocka_unit_test(a_clone_outlives_its_original),
		cmocka_unit_test(compressed_sections_are_read),
		cmocka_unit_test(inflated_sections_are_cached),
		cmocka_unit_test(debug_links_are_followed_if_the_crc_is_right),
		cmocka_unit_test(truncated_sections_do_no_harm),
		cmocka_unit_test(damaged_bytes_do_no_harm),
		cmocka_unit_test(absurd_nesting_is_survived),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
