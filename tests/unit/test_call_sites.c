/* The system calls of the C library, found by a scan and taken from the cache, unless the file
 * there is not what was written for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "flow/entry.h"
#include "isa/calls.h"
#include "probe/code/scout.h"

static char folder[] = "/tmp/test-calls-XXXXXX";

static int set_up(void **state)
{
	static struct module *m;
	Dl_info libc;
	struct err e;
	if (!mkdtemp(folder) || !dladdr((void *)(uintptr_t)abort, &libc) ||
	    module_open(&m, libc.dli_fname, &e))
		return -1;
	setenv("XDG_CACHE_HOME", folder, 1);
	*state = m;
	return 0;
}

/* Removes the files in the cache, and returns how many there were. */
static unsigned clear_cache(void)
{
	char path[512];
	unsigned count = 0;
	snprintf(path, sizeof(path), "%s/sonde", folder);
	DIR *d = opendir(path);
	for (struct dirent *x; d && (x = readdir(d));) {
		if (x->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/sonde/%s", folder, x->d_name);
		count += unlink(path) == 0;
	}
	if (d)
		closedir(d);
	return count;
}

static int tear_down(void **state)
{
	char path[64];
	clear_cache();
	snprintf(path, sizeof(path), "%s/sonde", folder);
	rmdir(path);
	rmdir(folder);
	module_close(*state);
	return 0;
}

static struct flow *open_flow(const struct module *m)
{
	struct flow *f;
	struct err e;
	if (flow_open(&f, m, &e))
		fail_msg("%s", e.text);
	return f;
}

/* Whether an instruction begins at va, if those before it in its function are decoded in order, and
 * something leads there. */
static bool is_instruction(struct flow *f, const struct arch *arch, uint64_t va)
{
	struct arena a = {0};
	uint32_t count, function = flow_function_at(f, va);
	assert_true(function != UINT32_MAX);
	uint64_t at = flow_functions(f, &count)[function].start;
	bool reached = cfg_block_at(flow_cfg(f, function, &a, &a), va) != BLOCK_NONE;
	struct insn in;
	while (at < va && decode_at(flow_module(f), arch, at, DECODE_FULL, &in))
		at += in.length;
	arena_release(&a);
	return reached && at == va;
}

/* What must be found: looked for byte by byte. */
static uint32_t count_naively(const struct module *m, struct flow *f, const struct arch *arch,
			      const call_sites *found)
{
	const struct arch_calls *k = arch_calls(arch);
	uint32_t count = 0;
	for (uint32_t i = 0; i < m->section_count; i++) {
		const struct section *s = &m->sections[i];
		for (uint64_t at = 0; s->execute && s->in_file && at + k->insn_size <= s->size;
		     at += arch->insn_align) {
			size_t n;
			const uint8_t *p = module_at(m, s->va + at, k->insn_size, &n);
			if (!p || n != k->insn_size || memcmp(p, k->insn, n) != 0 ||
			    !is_instruction(f, arch, s->va + at))
				continue;
			assert_true(count < found->len);
			assert_int_equal(found->data[count++].va, s->va + at);
		}
	}
	return count;
}

static void check_same(const call_sites *a, const call_sites *b)
{
	assert_int_equal(a->len, b->len);
	for (uint32_t i = 0; i < a->len; i++) {
		assert_int_equal(a->data[i].va, b->data[i].va);
		assert_int_equal(a->data[i].number, b->data[i].number);
	}
}

static void all_calls_are_found(void **state)
{
	const struct module *m = *state;
	struct flow *f = open_flow(m);
	call_sites scanned = {0}, cached = {0};
	assert_false(call_sites_find_soon(&cached, f));
	assert_true(call_sites_find(&scanned, f, NULL));
	assert_true(scanned.len > 100);
	assert_int_equal(count_naively(m, f, arch_of_machine(m->machine), &scanned), scanned.len);
	assert_true(call_sites_find_soon(&cached, f));
	check_same(&scanned, &cached);
	assert_int_equal(clear_cache(), 1);
	vec_free(&scanned);
	vec_free(&cached);
	flow_close(f);
}

/* The number of the only system call of a function of the C library. */
static int64_t number_in(struct flow *f, const call_sites *all, const char *name)
{
	uint32_t count;
	const struct symbol *symbols = module_symbols(flow_module(f), &count);
	for (uint32_t i = 0; i < count; i++) {
		if (strcmp(symbols[i].name, name) != 0)
			continue;
		vec_each (site, all)
			if (site->va >= symbols[i].va && site->va < symbols[i].va + symbols[i].size)
				return site->number;
	}
	fail_msg("no system call in %s", name);
	return -1;
}

static void numbers_are_found(void **state)
{
	struct flow *f = open_flow(*state);
	call_sites all = {0};
	assert_true(call_sites_find(&all, f, NULL));
	assert_int_equal(number_in(f, &all, "getppid"), SYS_getppid);
	assert_int_equal(number_in(f, &all, "setsid"), SYS_setsid);
	assert_int_equal(number_in(f, &all, "syscall"), -1);
	clear_cache();
	vec_free(&all);
	flow_close(f);
}

static void they_are_searched_for_in_the_background(void **state)
{
	const struct module *m = *state;
	struct flow *f = open_flow(m);
	const struct code code = {.id = 7, .module = *state, .flow = f};
	call_sites here = {0}, there = {0};
	struct scout *s = scout_new();
	assert_false(scout_ask(s, &code, &there));
	double late = now_seconds() + 20;
	while (!scout_ask(s, &code, &there) && now_seconds() < late)
		usleep(1000);
	clear_cache();
	assert_true(call_sites_find(&here, f, NULL));
	check_same(&here, &there);
	clear_cache();
	assert_false(
		scout_ask(s, &code, &there)); /* it is asked again, and freed while it searches */
	scout_free(s);
	clear_cache();
	vec_free(&here);
	vec_free(&there);
	flow_close(f);
}

/* The only file in the cache. */
static void find_file(char *path, size_t size)
{
	char dir[64];
	unsigned count = 0;
	snprintf(dir, sizeof(dir), "%s/sonde", folder);
	DIR *d = opendir(dir);
	assert_non_null(d);
	for (struct dirent *x; (x = readdir(d));)
		if (x->d_name[0] != '.') {
			snprintf(path, size, "%s/%s", dir, x->d_name);
			count++;
		}
	closedir(d);
	assert_int_equal(count, 1);
}

static void check_found(struct flow *f, const call_sites *expected)
{
	call_sites found = {0};
	assert_true(call_sites_find(&found, f, NULL));
	check_same(expected, &found);
	vec_free(&found);
}

/* Whichever byte is damaged, and wherever the file ends, it is scanned again. */
static void damaged_files_are_ignored(void **state)
{
	struct flow *f = open_flow(*state);
	call_sites all = {0};
	char path[512];
	struct stat st;
	assert_true(call_sites_find(&all, f, NULL));
	find_file(path, sizeof(path));
	assert_int_equal(stat(path, &st), 0);
	for (off_t at = 0; at < st.st_size; at += at < 32 ? 1 : st.st_size / 7 + 1) {
		uint8_t byte;
		int fd = open(path, O_RDWR);
		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= 0x10;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		close(fd);
		check_found(f, &all);
		assert_int_equal(truncate(path, at), 0);
		check_found(f, &all);
	}
	assert_int_equal(truncate(path, st.st_size + 8), 0);
	check_found(f, &all);
	clear_cache();
	vec_free(&all);
	flow_close(f);
}

/* A module of the same size that has no calls, and whose file has got the name of this one's. */
static void files_of_other_modules_are_ignored(void **state)
{
	struct module *m = *state;
	struct section *s = (struct section *)(uintptr_t)m->sections;
	struct flow *f = open_flow(m);
	call_sites all = {0};
	char path[512], other[512];
	bool executed[64];
	assert_true(m->section_count <= ARRAY_SIZE(executed));
	assert_true(call_sites_find(&all, f, NULL));
	find_file(path, sizeof(path));
	clear_cache();
	const struct build_id id = m->build_id;
	m->build_id.bytes[0] ^= 1;
	for (uint32_t i = 0; i < m->section_count; i++) {
		executed[i] = s[i].execute;
		s[i].execute = false;
	}
	check_found(f, &(call_sites){0});
	find_file(other, sizeof(other));
	assert_int_equal(rename(other, path), 0);
	for (uint32_t i = 0; i < m->section_count; i++)
		s[i].execute = executed[i];
	m->build_id = id;
	check_found(f, &all);
	clear_cache();
	vec_free(&all);
	flow_close(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_calls_are_found),
		cmocka_unit_test(numbers_are_found),
		cmocka_unit_test(they_are_searched_for_in_the_background),
		cmocka_unit_test(damaged_files_are_ignored),
		cmocka_unit_test(files_of_other_modules_are_ignored),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
