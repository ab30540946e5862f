/* What is mapped where, told by made-up mappings of real files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unwind/links.h"
#include "unwind/space.h"

/* No process has this number: files are found by their paths. */
enum { NOBODY = 0x7fffffff };

struct fixture {
	struct codes *codes;
	struct space *space;
	char path[4096];
	struct mapping self; /* this program's code, at address 0x10000000 */
};

static const struct segment *code_segment(const struct module *module)
{
	uint32_t i = 0;
	while (i + 1 < module->segment_count && !module->segments[i].execute)
		i++;
	return &module->segments[i];
}

static int open_fixture(void **state)
{
	static struct fixture f;
	struct err e;
	struct stat st;
	struct module *module;
	memset(&f, 0, sizeof(f));
	if (readlink("/proc/self/exe", f.path, sizeof(f.path) - 1) < 0 || stat(f.path, &st) ||
	    module_open(&module, f.path, &e))
		return -1;
	f.self.offset = code_segment(module)->file_offset & ~UINT64_C(4095);
	module_close(module);
	f.self.start = 0x10000000;
	f.self.end = 0x10040000;
	f.self.device_major = major(st.st_dev);
	f.self.device_minor = minor(st.st_dev);
	f.self.inode = st.st_ino;
	f.self.path = f.path;
	f.codes = codes_new(NULL);
	f.space = space_new(f.codes, NOBODY);
	*state = &f;
	return 0;
}

static int close_fixture(void **state)
{
	struct fixture *f = *state;
	space_free(f->space);
	codes_free(f->codes);
	return 0;
}

static struct mapping moved(const struct mapping *m, uint64_t start, uint64_t end)
{
	struct mapping out = *m;
	out.start = start;
	out.end = end;
	return out;
}

/* A mapping of memory that is no file. */
static struct mapping anonymous(uint64_t start, uint64_t end)
{
	return (struct mapping){.start = start, .end = end, .path = "//anon"};
}

static void files_of_ended_processes_are_found_by_path(void **state)
{
	struct fixture *f = *state;
	space_map(f->space, &f->self);
	assert_int_equal(codes_count(f->codes), 0);
	struct place p = space_find(f->space, 0x10001000);
	assert_non_null(p.code);
	assert_string_equal(p.code->path, f->path);
	assert_non_null(p.code->recipes);
	const struct segment *code = code_segment(p.code->module);
	assert_int_equal(p.va - code->va, 0x1000 + f->self.offset - code->file_offset);
	assert_null(space_find(f->space, 0xfffffff).code);
	assert_null(space_find(f->space, 0x10040000).code);
}

static void another_file_at_the_path_is_not_taken(void **state)
{
	struct fixture *f = *state;
	struct mapping m = f->self;
	m.inode++;
	space_map(f->space, &m);
	struct place p = space_find(f->space, 0x10001000);
	assert_non_null(p.code);
	assert_null(p.code->module);
	assert_non_null(strstr(p.code->problem, "cannot be reached"));
	assert_false(p.anonymous);
}

static void deleted_files_are_known_as_such(void **state)
{
	struct fixture *f = *state;
	struct mapping m = f->self;
	char path[64];
	snprintf(path, sizeof(path), "/nowhere/at all (deleted)");
	m.path = path;
	space_map(f->space, &m);
	struct place p = space_find(f->space, 0x10001000);
	assert_true(p.code->deleted);
	assert_string_equal(p.code->path, "/nowhere/at all");
	assert_non_null(strstr(p.code->problem, "was deleted"));
}

static void copy_file(const char *from, const char *to)
{
	char buffer[65536];
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	assert_true(in && out);
	for (size_t n; (n = fread(buffer, 1, sizeof(buffer), in)) > 0;)
		assert_int_equal(fwrite(buffer, 1, n, out), n);
	fclose(in);
	assert_int_equal(fclose(out), 0);
}

/* A library is built again in its place and loaded again where it was: only its time has changed.
 */
static void a_file_that_was_written_to_is_opened_again(void **state)
{
	struct fixture *f = *state;
	struct mapping m = f->self;
	struct stat st;
	char path[] = "/tmp/test_space.XXXXXX";
	const struct timespec later[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	copy_file(f->path, path);
	assert_int_equal(fstat(fd, &st), 0);
	m.inode = st.st_ino;
	m.device_major = major(st.st_dev);
	m.device_minor = minor(st.st_dev);
	m.path = path;
	struct space *space = space_new(f->codes, getpid());
	space_map(space, &m);
	const struct code *first = space_find(space, 0x10001000).code;
	assert_non_null(first->module);
	uint64_t serial = space_serial(space);
	space_map(space, &m);
	assert_ptr_equal(space_find(space, 0x10001000).code, first);
	assert_int_equal(space_serial(space), serial);
	assert_int_equal(futimens(fd, later), 0);
	assert_ptr_equal(space_find(space, 0x10001000).code, first); /* nothing was mapped since */
	space_map(space, &m);
	const struct code *second = space_find(space, 0x10001000).code;
	assert_true(second != first && second->module && space_serial(space) != serial);
	unlink(path);
	space_map(space, &m);
	assert_ptr_equal(space_find(space, 0x10001000).code, second);
	space_free(space);
	close(fd);
}

static void one_file_is_one_code(void **state)
{
	struct fixture *f = *state;
	struct mapping again = moved(&f->self, 0x20000000, 0x20040000);
	space_map(f->space, &f->self);
	space_map(f->space, &again);
	struct space *child = space_copy(f->space, NOBODY - 1);
	struct place a = space_find(f->space, 0x10001000), b = space_find(f->space, 0x20001000),
		     c = space_find(child, 0x20001000);
	assert_ptr_equal(a.code, b.code);
	assert_ptr_equal(a.code, c.code);
	assert_int_equal(a.va, b.va);
	assert_int_equal(codes_count(f->codes), 1);
	assert_ptr_equal(codes_get(f->codes, 0), a.code);
	space_free(child);
}

static void files_that_fail_are_one_code_too(void **state)
{
	struct fixture *f = *state;
	struct mapping m = f->self, again;
	m.path = "/nowhere/at all";
	again = moved(&m, 0x20000000, 0x20040000);
	space_map(f->space, &m);
	space_map(f->space, &again);
	assert_ptr_equal(space_find(f->space, 0x10001000).code,
			 space_find(f->space, 0x20001000).code);
	assert_int_equal(codes_count(f->codes), 1);
}

/* A mapping into the middle of another splits it; the rest is where it was. */
static void new_mappings_replace_what_they_overlap(void **state)
{
	struct fixture *f = *state;
	struct mapping hole = anonymous(0x10010000, 0x10011000);
	space_map(f->space, &f->self);
	uint64_t before = space_find(f->space, 0x10012345).va;
	space_map(f->space, &hole);
	assert_true(space_find(f->space, 0x10010000).anonymous);
	assert_true(space_find(f->space, 0x10010fff).anonymous);
	assert_non_null(space_find(f->space, 0x1000ffff).code);
	assert_non_null(space_find(f->space, 0x10011000).code);
	assert_int_equal(space_find(f->space, 0x10012345).va, before);
	struct mapping all = anonymous(0xff00000, 0x11000000);
	space_map(f->space, &all);
	assert_true(space_find(f->space, 0x10012345).anonymous);
	space_clear(f->space);
	assert_false(space_find(f->space, 0x10012345).anonymous);
}

/* Against the simple way: an array with an owner for each page. */
static void any_order_of_mappings_is_right(void **state)
{
	struct fixture *f = *state;
	enum { PAGES = 64, ROUNDS = 3000 };
	bool owned[PAGES] = {false};
	uint32_t seed = 1;
	for (int round = 0; round < ROUNDS; round++) {
		seed = seed * 1103515245 + 12345;
		uint64_t from = (seed >> 8) % PAGES, to = from + 1 + (seed >> 16) % 8;
		bool file = seed >> 28 & 1;
		to = to < PAGES ? to : PAGES;
		struct mapping m = file ? moved(&f->self, from << 12, to << 12)
					: anonymous(from << 12, to << 12);
		space_map(f->space, &m);
		for (uint64_t i = from; i < to; i++)
			owned[i] = !file;
		for (uint64_t i = from ? from - 1 : 0; i < PAGES && i <= to; i++)
			if (owned[i])
				assert_true(space_find(f->space, i << 12).anonymous);
			else
				assert_false(space_find(f->space, i << 12).anonymous);
	}
}

static void the_serial_tells_when_a_pc_changes_its_meaning(void **state)
{
	struct fixture *f = *state;
	struct mapping elsewhere = moved(&f->self, 0x20000000, 0x20040000);
	struct mapping over = anonymous(0x10000000, 0x10001000);
	space_map(f->space, &f->self);
	uint64_t serial = space_serial(f->space);
	space_map(f->space, &f->self);
	space_map(f->space, &elsewhere);
	assert_int_equal(space_serial(f->space), serial);
	space_map(f->space, &over);
	assert_int_not_equal(space_serial(f->space), serial);
	struct space *child = space_copy(f->space, NOBODY - 1);
	assert_int_not_equal(space_serial(f->space), space_serial(child));
	space_free(child);
}

static void own_process_is_found_whole(void **state)
{
	struct fixture *f = *state;
	struct err e = {0};
	struct space *own = space_new(f->codes, (int)getpid());
	void *jit = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_int_equal(space_refresh(own, &e), 0);
	struct place here = space_find(own, (uint64_t)(uintptr_t)own_process_is_found_whole);
	struct place libc = space_find(own, (uint64_t)(uintptr_t)&qsort);
	assert_string_equal(here.code->path, f->path);
	assert_non_null(libc.code);
	assert_true(libc.code != here.code);
	assert_true(jit == MAP_FAILED || space_find(own, (uint64_t)(uintptr_t)jit).anonymous);
	uint64_t serial = space_serial(own);
	uint32_t count = codes_count(f->codes);
	assert_int_equal(space_refresh(own, &e), 0);
	assert_int_equal(space_serial(own), serial);
	assert_ptr_equal(space_find(own, (uint64_t)(uintptr_t)&qsort).code, libc.code);
	assert_int_equal(codes_count(f->codes), count);
	if (jit != MAP_FAILED)
		munmap(jit, 4096);
	assert_int_equal(space_refresh(own, &e), 0);
	assert_true(jit == MAP_FAILED || space_serial(own) != serial);
	space_free(own);
}

/* The vdso of a process that is gone is ours. */
static void the_vdso_needs_no_process(void **state)
{
	struct fixture *f = *state;
	struct mapping vdso = {.start = 0x7000000, .end = 0x7002000, .path = "[vdso]"};
	struct maps m;
	struct err e;
	bool have = false;
	assert_int_equal(maps_read(&m, (int)getpid(), &e), 0);
	for (uint32_t i = 0; i < m.module_count; i++)
		have |= m.modules[i].vdso;
	maps_release(&m);
	if (!have)
		skip();
	space_map(f->space, &vdso);
	struct place p = space_find(f->space, 0x7000800);
	assert_non_null(p.code);
	assert_non_null(p.code->module);
	assert_string_equal(p.code->path, "[vdso]");
}

static void missing_processes_are_explained(void **state)
{
	struct fixture *f = *state;
	struct err e = {0};
	assert_int_equal(space_refresh(f->space, &e), ERR_SYSTEM);
	assert_non_null(strstr(e.text, "there is no process"));
}

/* What is mapped executable but is no program: a compiler's output in shared memory. */
static void files_that_are_no_modules_are_generated_code(void **state)
{
	struct fixture *f = *state;
	struct stat st;
	char path[] = "/tmp/test_space.XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0 && write(fd, "not a program", 13) == 13 && !fstat(fd, &st));
	struct mapping m = f->self;
	m.path = path;
	m.device_major = major(st.st_dev);
	m.device_minor = minor(st.st_dev);
	m.inode = st.st_ino;
	space_map(f->space, &m);
	struct place p = space_find(f->space, 0x10001000);
	assert_true(p.anonymous);
	assert_null(p.code);
	close(fd);
	unlink(path);
}

/* --- links ---------------------------------------------------------------------------------- */

__attribute__((noinline)) static int callee(volatile int *n)
{
	return *n + 1;
}

__attribute__((noinline)) static int other(volatile int *n)
{
	return *n + 2;
}

__attribute__((noinline)) static int passes_on(volatile int *n)
{
	return *n ? callee(n) : other(n);
}

static volatile int one = 1;
static volatile int *volatile where = &one; /* a constant would be compiled into the callees */
static int (*volatile pointer)(volatile int *) = other;

/* Calls each of them once, and the last through a pointer. */
__attribute__((noinline)) static int caller(void)
{
	int sum = callee(where);
	sum += passes_on(where);
	sum += pointer(where);
	return sum + one;
}

static uint64_t va_of(struct flow *flow, const char *name, uint64_t *end)
{
	uint32_t n;
	const struct function *p = flow_functions(flow, &n);
	for (uint32_t i = 0; i < n; i++)
		if (p[i].name && !strcmp(p[i].name, name)) {
			*end = p[i].end;
			return p[i].start;
		}
	fail_msg("there is no function %s", name);
	return 0;
}

/* The return address of the n-th call of caller(). */
static struct call_site nth_call(struct flow *flow, unsigned n)
{
	uint64_t end = 0, va = va_of(flow, "caller", &end);
	const struct arch *arch = flow_arch(flow);
	for (struct insn in; va < end; va += in.length) {
		size_t left;
		const uint8_t *p = module_at(flow_module(flow), va, end - va, &left);
		assert_true(arch->decode(p, left, va, DECODE_FLOW, &in) > 0);
		bool call = in.kind == INSN_CALL || in.kind == INSN_CALL_INDIRECT;
		if (call && !n--)
			return links_call_before(flow, va + in.length);
	}
	fail_msg("caller has no such call");
	return (struct call_site){0};
}

/* Compilers do not make them without optimisation. */
static bool has_tail_call(struct flow *flow, uint64_t va)
{
	struct arena a = {0};
	bool yes = false;
	const struct cfg *g = flow_cfg(flow, flow_function_at(flow, va), &a, &a);
	for (uint32_t i = 0; i < g->block_count; i++)
		yes |= g->blocks[i].end == END_TAIL_CALL;
	arena_release(&a);
	return yes;
}

static void links_hold_where_calls_lead(void **state)
{
	struct fixture *f = *state;
	space_map(f->space, &f->self);
	assert_int_equal(caller(), 1 + 1 + 1 + 1 + 1 + 2 + 1);
	const struct code *code = space_find(f->space, 0x10001000).code;
	struct links *l = code->links;
	struct flow *flow = code->flow;
	uint64_t end, to_callee = va_of(flow, "callee", &end),
		      to_other = va_of(flow, "other", &end),
		      to_passing = va_of(flow, "passes_on", &end);
	struct call_site call = nth_call(flow, 0), passing = nth_call(flow, 1),
			 indirect = nth_call(flow, 2);
	assert_int_equal(links_check(l, &call, flow, to_callee), VERDICT_VALID);
	assert_int_equal(links_check(l, &call, flow, to_callee + 4), VERDICT_VALID);
	assert_int_equal(links_check(l, &call, flow, to_other), VERDICT_INVALID);
	assert_int_equal(links_check(l, &call, NULL, 0), VERDICT_LIKELY);
	assert_int_equal(links_check(l, &passing, flow, to_passing), VERDICT_VALID);
	if (has_tail_call(flow, to_passing))
		assert_int_equal(links_check(l, &passing, flow, to_callee), VERDICT_LIKELY);
	assert_true(indirect.indirect && !indirect.direct);
	assert_int_equal(links_check(l, &indirect, flow, to_other), VERDICT_LIKELY);
	struct call_site none = links_call_before(flow, to_callee);
	assert_int_equal(links_check(l, &none, flow, to_callee), VERDICT_INVALID);
}

/* The process may have mapped something else in the place since; what is missing is added. */
static void completing_replaces_nothing(void **state)
{
	struct fixture *f = *state;
	struct err e;
	uint64_t here = (uint64_t)(uintptr_t)completing_replaces_nothing,
		 there = (uint64_t)(uintptr_t)qsort, page = 4096;
	struct space *s = space_new(f->codes, getpid());
	struct mapping before = anonymous(here & ~(page - 1), (here & ~(page - 1)) + page);
	space_map(s, &before);
	uint64_t serial = space_serial(s);
	assert_int_equal(space_complete(s, &e), 0);
	assert_int_equal(space_serial(s), serial);
	assert_true(space_find(s, here).anonymous);
	assert_non_null(space_find(s, there).code);
	assert_int_equal(space_refresh(s, &e), 0);
	assert_non_null(space_find(s, here).code);
	space_free(s);
	s = space_new(f->codes, NOBODY);
	assert_int_not_equal(space_complete(s, &e), 0);
	space_free(s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(files_of_ended_processes_are_found_by_path),
		TEST(another_file_at_the_path_is_not_taken),
		TEST(deleted_files_are_known_as_such),
		TEST(a_file_that_was_written_to_is_opened_again),
		TEST(one_file_is_one_code),
		TEST(files_that_fail_are_one_code_too),
		TEST(new_mappings_replace_what_they_overlap),
		TEST(any_order_of_mappings_is_right),
		TEST(the_serial_tells_when_a_pc_changes_its_meaning),
		TEST(own_process_is_found_whole),
		TEST(completing_replaces_nothing),
		TEST(the_vdso_needs_no_process),
		TEST(missing_processes_are_explained),
		TEST(files_that_are_no_modules_are_generated_code),
		TEST(links_hold_where_calls_lead),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
