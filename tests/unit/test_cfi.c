#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dwarf.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/vec.h"
#include "module/cfi_program.h"
#include "module_tables.h"

static struct module *open_file(const char *path)
{
	struct module *m = NULL;
	struct err e = {0};
	if (module_open(&m, path, &e))
		fail_msg("%s: %s", path, e.text);
	return m;
}

/* ---- readelf is the oracle ---- */

enum { COLUMNS_MAX = 40 };

struct oracle {
	FILE *text;
	uint16_t machine;
	char line[1024];
	char *column[COLUMNS_MAX]; /* names; NULL behind the last */
	char names[1024];
	uint32_t rows, entries;
};

static unsigned register_number(const struct oracle *o, const char *name)
{
	static const char *const x64[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"};
	for (unsigned i = 0; o->machine == EM_X86_64 && i < ARRAY_SIZE(x64); i++)
		if (!strcmp(name, x64[i]))
			return i;
	if (!strcmp(name, "sp"))
		return 31;
	return (unsigned)atoi(name + 1); /* x19, r12 */
}

static unsigned split(char *line, char **words)
{
	unsigned n = 0;
	for (char *w = strtok(line, " \n"); w && n + 1 < COLUMNS_MAX; w = strtok(NULL, " \n"))
		words[n++] = w;
	words[n] = NULL;
	return n;
}

static void check_cfa(const struct oracle *o, const char *word, const struct cfi_row *row)
{
	char name[16];
	int offset = 0;
	if (!strcmp(word, "exp")) {
		assert_true(row->cfa != CFI_CFA_REGISTER);
		return;
	}
	assert_int_equal(sscanf(word, "%15[a-z0-9]%d", name, &offset), 2);
	assert_int_equal(row->cfa, CFI_CFA_REGISTER);
	assert_int_equal(row->cfa_reg, register_number(o, name));
	assert_int_equal(row->cfa_offset, offset);
}

/* readelf's "u" is "undefined" or that nothing was said. */
static void check_rule(const struct oracle *o, char **word, uint8_t rule, int64_t offset)
{
	if (word[0][0] == 'c') {
		assert_int_equal(rule, CFI_SAVED);
		assert_int_equal(offset, atoi(word[0] + 1));
	} else if (!strcmp(word[0], "u")) {
		assert_true(rule == CFI_UNDEFINED || rule == CFI_SAME);
	} else if (!strcmp(word[0], "s")) {
		assert_int_equal(rule, CFI_SAME);
	} else if (word[1] && word[1][0] == '(') {
		word[1][strlen(word[1]) - 1] = 0;
		assert_int_equal(rule, CFI_REGISTER);
		assert_int_equal(offset, register_number(o, word[1] + 1));
	} else {
		assert_int_equal(rule, CFI_UNKNOWN);
	}
}

static void check_row(struct oracle *o, struct cfi *c, uint64_t va, char **word)
{
	struct cfi_row row;
	if (!cfi_row_at(c, va, &row))
		fail_msg("no row at %#lx", (unsigned long)va);
	assert_int_equal(row.start, va);
	check_cfa(o, *word++, &row);
	for (char **name = o->column; *name; name++, word++) {
		assert_non_null(*word);
		if (!strcmp(*name, "ra")) {
			check_rule(o, word, row.ret, row.ret_offset);
		} else if (**name == 'x' || **name == 'r') {
			unsigned reg = register_number(o, *name);
			check_rule(o, word, row.rule[reg], row.offset[reg]);
		}
		if (word[1] && word[1][0] == '(')
			word++;
	}
	o->rows++;
}

/* Rows of one FDE up to the empty line; of several at one address the last counts. */
static void check_entry(struct oracle *o, struct cfi *c)
{
	char *word[COLUMNS_MAX], pending[1024] = "";
	memcpy(o->names, o->line, sizeof(o->names));
	unsigned n = split(o->names, word);
	assert_true(n >= 2 && !strcmp(word[1], "CFA"));
	memcpy(o->column, word + 2, sizeof(word) - 2 * sizeof(word[0]));
	o->column[n - 2] = NULL;
	for (bool more = true; more;) {
		more = fgets(o->line, sizeof(o->line), o->text) && o->line[0] != '\n';
		if (*pending && (!more || strncmp(pending, o->line, 16))) {
			split(pending, word);
			check_row(o, c, strtoull(word[0], NULL, 16), word + 1);
		}
		memcpy(pending, o->line, sizeof(pending));
	}
	o->entries++;
}

static struct oracle compare(const char *path, const char *options)
{
	struct module *m = open_file(path);
	struct cfi *c = cfi_open(m, NULL);
	struct oracle o = {.machine = m->machine};
	char command[512];
	bool is_fde = false;
	assert_non_null(c);
	snprintf(command, sizeof(command),
		 "LC_ALL=C readelf --wide --debug-dump=frames-interp %s '%s' 2>/dev/null", options,
		 path);
	o.text = popen(command, "r");
	assert_non_null(o.text);
	while (fgets(o.line, sizeof(o.line), o.text)) {
		if (strstr(o.line, " CIE ") || strstr(o.line, " FDE "))
			is_fde = strstr(o.line, " FDE ") != NULL;
		else if (is_fde && strstr(o.line, "LOC"))
			check_entry(&o, c);
	}
	pclose(o.text);
	cfi_close(c);
	module_close(m);
	return o;
}

static bool has_readelf(void)
{
	return system("readelf --version >/dev/null 2>&1") == 0;
}

static void rows_are_those_of_readelf(void **state)
{
	char self[512] = "";
	const char *const paths[] = {
		self,
		"/lib/aarch64-linux-gnu/libc.so.6",
		"/lib/x86_64-linux-gnu/libc.so.6",
		"/usr/aarch64-linux-gnu/lib/libc.so.6",
		"/usr/x86_64-linux-gnu/lib/libc.so.6",
	};
	uint32_t entries = 0, rows = 0;
	(void)state;
	if (!has_readelf() || readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		if (access(paths[i], R_OK))
			continue;
		struct oracle o = compare(paths[i], "");
		entries += o.entries;
		rows += o.rows;
	}
	assert_true(entries > 300 && rows > 1000);
}

/* ---- tables that are found in other ways ---- */

static void write_file(const char *path, const void *bytes, size_t size)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

/* Builds a victim in a new directory; false if there is no compiler. */
static bool build(char *dir, const char *flags)
{
	static const char source[] =
		"#include <string.h>\n"
		"__attribute__((noinline)) int f(char *p) { char b[200]; strcpy(b, p); return "
		"strlen(b); }\n"
		"int main(int n, char **v) { return f(v[0]) + n; }\n";
	char path[128], command[512];
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/v.c", dir);
	write_file(path, source, strlen(source));
	snprintf(command, sizeof(command), "cc -O1 %s -o %s/v %s 2>/dev/null", flags, dir, path);
	return system(command) == 0;
}

static void remove_dir(const char *dir)
{
	char command[128];
	snprintf(command, sizeof(command), "rm -r '%s'", dir);
	assert_int_equal(system(command), 0);
}

static const struct symbol *find_symbol(const struct module *m, const char *name)
{
	for (uint32_t i = 0; i < symbol_count(m); i++)
		if (!strcmp(symbols_of(m)[i].name, name))
			return &symbols_of(m)[i];
	fail_msg("no symbol %s", name);
	return NULL;
}

static void check_debug_frame(const char *flags)
{
	char dir[] = "/tmp/test_cfi.XXXXXX", path[64];
	bool built = build(dir, flags);
	snprintf(path, sizeof(path), "%s/v", dir);
	if (built) {
		struct module *m = open_file(path);
		const struct symbol *f = find_symbol(m, "f");
		struct cfi *c = cfi_open(m, NULL);
		struct cfi_row row;
		assert_non_null(c);
		assert_true(cfi_row_at(c, f->va, &row));
		assert_true(row.end > row.start && row.end < f->va + f->size);
		cfi_close(c);
		if (has_readelf())
			compare(path, "");
		module_close(m);
	}
	remove_dir(dir);
}

static void debug_frame_fills_in(void **state)
{
	(void)state;
	check_debug_frame("-g -fno-asynchronous-unwind-tables -fno-unwind-tables");
	check_debug_frame("-g -fno-asynchronous-unwind-tables -fno-unwind-tables -gz");
}

static uint64_t walk(struct cfi *c, const struct module *m, struct cfi_row *last)
{
	uint64_t rows = 0;
	for (uint32_t i = 0; i < frame_count(m); i++)
		for (uint64_t va = frames_of(m)[i].start;
		     va < frames_of(m)[i].end && cfi_row_at(c, va, last); va = last->end)
			rows++;
	return rows;
}

static void a_file_without_sections_has_the_same(void **state)
{
	struct module *m = open_file("/proc/self/exe"), *bare = NULL;
	uint8_t *copy = xmalloc(m->size);
	struct err e = {0};
	Elf64_Ehdr h;
	struct cfi_row a, b;
	(void)state;
	memcpy(copy, lazy_file_at(m->file, 0, m->size), m->size);
	memcpy(&h, copy, sizeof(h));
	h.e_shoff = h.e_shnum = h.e_shstrndx = 0;
	memcpy(copy, &h, sizeof(h));
	assert_int_equal(module_open_memory(&bare, "bare", copy, m->size, &e), 0);
	struct cfi *c = cfi_open(m, NULL), *d = cfi_open(bare, NULL);
	assert_non_null(c);
	assert_non_null(d);
	assert_true(walk(c, m, &a) > 100);
	assert_int_equal(walk(c, m, &a), walk(d, m, &b));
	assert_memory_equal(&a, &b, sizeof(a));
	cfi_close(c);
	cfi_close(d);
	module_close(bare);
	module_close(m);
	free(copy);
}

/* Some kernels' have no tables. */
static void the_vdso_is_read(void **state)
{
	uint64_t base = getauxval(AT_SYSINFO_EHDR);
	struct module *m = NULL;
	struct err e = {0};
	struct cfi_row row;
	(void)state;
	if (!base)
		skip();
	const void *bytes = (const void *)(uintptr_t)base;
	Elf64_Ehdr h;
	memcpy(&h, bytes, sizeof(h));
	size_t size = h.e_shoff + (size_t)h.e_shnum * h.e_shentsize;
	assert_int_equal(module_open_memory(&m, "[vdso]", bytes, size, &e), 0);
	struct cfi *c = cfi_open(m, NULL);
	assert_int_equal(c != NULL, frame_count(m) > 0);
	assert_true(walk(c, m, &row) >= frame_count(m));
	cfi_close(c);
	module_close(m);
}

static void nothing_is_no_handle(void **state)
{
	const struct lazy_file none = {0};
	struct module empty = {.machine = EM_AARCH64};
	struct reader reader = {.module = &empty, .table = {.file = &none}};
	(void)state;
	empty.reader = &reader;
	assert_null(cfi_open(&empty, NULL));
	cfi_close(NULL);
}

/* Asking in any order gives what asking in order does. */
static void order_does_not_matter(void **state)
{
	struct module *m = open_file("/proc/self/exe");
	struct cfi *c = cfi_open(m, NULL), *d = cfi_open(m, NULL);
	struct cfi_row a, b;
	(void)state;
	assert_non_null(c);
	for (uint32_t i = frame_count(m) < 300 ? frame_count(m) : 300; i-- > 0;) {
		const struct frame_range *f = &frames_of(m)[i];
		for (uint64_t va = f->end - 1; va >= f->start && cfi_row_at(c, va, &a);
		     va = a.start - 1) {
			assert_true(cfi_row_at(d, f->start, &b));
			while (b.end <= va)
				assert_true(cfi_row_at(d, b.end, &b));
			assert_memory_equal(&a, &b, sizeof(a));
		}
	}
	cfi_close(c);
	cfi_close(d);
	module_close(m);
}

/* ---- programs ---- */

static struct cfi_row run(uint16_t machine, const uint8_t *code, size_t size, unsigned rows)
{
	struct cfi_cie cie = {.usable = true,
			      .arch = arch_of_machine(machine),
			      .code_align = machine == EM_AARCH64 ? 4 : 1,
			      .data_align = (uint64_t)-8,
			      .return_column = machine == EM_AARCH64 ? 30 : 16};
	static const uint8_t initial[] = {DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1};
	static struct cfi_program p;
	struct encoding_base base = {.bytes = code};
	struct cfi_row row;
	cfi_run_initial(&cie, cursor_over(initial, sizeof(initial)), &base);
	cfi_start(&p, &cie, cursor_over(code, size), &base, 0x1000, 0x2000);
	for (unsigned i = 0; i < rows; i++)
		assert_true(cfi_next_row(&p));
	cfi_fill_row(&p, &row);
	return row;
}

#define RUN(machine, rows, ...)                                                                    \
	run(machine, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), rows)

static void a_cfa_in_memory_is_recognised(void **state)
{
	(void)state;
	struct cfi_row r = RUN(EM_X86_64, 1, DW_CFA_def_cfa_expression, 5, DW_OP_breg7, 0x98, 0,
			       DW_OP_deref, DW_OP_plus_uconst);
	assert_int_equal(r.cfa, CFI_CFA_UNKNOWN); /* the constant is missing */
	r = RUN(EM_X86_64, 1, DW_CFA_def_cfa_expression, 6, DW_OP_breg7, 0x98, 0, DW_OP_deref,
		DW_OP_plus_uconst, 8);
	assert_int_equal(r.cfa, CFI_CFA_MEMORY);
	assert_int_equal(r.cfa_reg, 4); /* rsp */
	assert_int_equal(r.cfa_offset, 24);
	assert_int_equal(r.cfa_add, 8);
	assert_int_equal(r.ret, CFI_SAVED);
	assert_int_equal(r.ret_offset, -8);
	r = RUN(EM_AARCH64, 1, DW_CFA_def_cfa_expression, 4, DW_OP_bregx, 29, 0x70, DW_OP_deref);
	assert_int_equal(r.cfa, CFI_CFA_MEMORY);
	assert_int_equal(r.cfa_reg, 29);
	assert_int_equal(r.cfa_offset, -16);
	r = RUN(EM_X86_64, 1, DW_CFA_def_cfa_expression, 2, DW_OP_breg7, 8);
	assert_int_equal(r.cfa, CFI_CFA_UNKNOWN);
}

static void states_are_remembered(void **state)
{
	(void)state;
	struct cfi_row r = RUN(EM_X86_64, 2, DW_CFA_remember_state, DW_CFA_def_cfa_offset, 64,
			       DW_CFA_offset | 3, 2, DW_CFA_advance_loc | 4, DW_CFA_restore_state);
	assert_int_equal(r.start, 0x1004);
	assert_int_equal(r.end, 0x2000);
	assert_int_equal(r.cfa_offset, 8);
	assert_int_equal(r.rule[3], CFI_SAME);
	r = RUN(EM_X86_64, 1, DW_CFA_restore_state);
	assert_int_equal(r.cfa, CFI_CFA_UNKNOWN);
}

static void a_signed_return_address_changes_nothing(void **state)
{
	(void)state;
	struct cfi_row r = RUN(EM_AARCH64, 2, DW_CFA_offset | 30, 1, DW_CFA_advance_loc | 1,
			       DW_CFA_AARCH64_negate_ra_state);
	assert_int_equal(r.start, 0x1004);
	assert_int_equal(r.ret, CFI_SAVED);
	assert_int_equal(r.ret_offset, -8);
	r = RUN(EM_AARCH64, 1, DW_CFA_undefined, 30);
	assert_int_equal(r.ret, CFI_UNDEFINED);
	r = RUN(EM_AARCH64, 1, DW_CFA_register, 30, 15);
	assert_int_equal(r.ret, CFI_REGISTER);
	assert_int_equal(r.ret_offset, 15);
}

static void nonsense_is_unknown(void **state)
{
	(void)state;
	struct cfi_row r = RUN(EM_X86_64, 1, 0x3f);
	assert_int_equal(r.cfa, CFI_CFA_UNKNOWN);
	assert_int_equal(r.end, 0x2000);
	r = RUN(EM_X86_64, 1, DW_CFA_def_cfa, 0xff, 0xff, 0x03, 8);
	assert_int_equal(r.cfa, CFI_CFA_UNKNOWN);
	r = RUN(EM_X86_64, 1, DW_CFA_advance_loc4, 0xff, 0xff, 0xff, 0xff);
	assert_int_equal(r.end, 0x2000);
	uint8_t deep[2 * CFI_DEPTH];
	memset(deep, DW_CFA_remember_state, sizeof(deep));
	r = run(EM_X86_64, deep, sizeof(deep), 1);
	assert_int_equal(r.cfa, CFI_CFA_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_those_of_readelf),
		cmocka_unit_test(debug_frame_fills_in),
		cmocka_unit_test(a_file_without_sections_has_the_same),
		cmocka_unit_test(the_vdso_is_read),
		cmocka_unit_test(nothing_is_no_handle),
		cmocka_unit_test(order_does_not_matter),
		cmocka_unit_test(a_cfa_in_memory_is_recognised),
		cmocka_unit_test(states_are_remembered),
		cmocka_unit_test(a_signed_return_address_changes_nothing),
		cmocka_unit_test(nonsense_is_unknown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
