/* Starts from the cache are those from the file, and a file that is not what was written is
 * ignored. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache_folder.h"
#include "flow/start_cache.h"

static struct module *module;

static struct flow *new_flow(void)
{
	struct flow *f = xcalloc(1, sizeof(*f));
	f->module = module;
	f->arch = module->arch;
	return f;
}

static int set_up(void **state)
{
	struct err e;
	(void)state;
	cache_folder_make();
	assert_int_equal(module_open(&module, "/proc/self/exe", &e), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	cache_folder_remove("starts-");
	module_close(module);
	return 0;
}

static void check_same(const struct flow *a, const struct flow *b)
{
	uint32_t count, other;
	const struct function *p = flow_functions(a, &count), *q = flow_functions(b, &other);
	assert_int_equal(count, other);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(p[i].start, q[i].start);
		assert_int_equal(p[i].end, q[i].end);
		assert_int_equal(p[i].found_by, q[i].found_by);
		assert_int_equal(p[i].flags, q[i].flags);
		assert_int_equal(p[i].bounded, q[i].bounded);
		assert_int_equal(p[i].part_count, q[i].part_count);
		assert_int_equal(!p[i].name, !q[i].name);
		if (p[i].name)
			assert_string_equal(p[i].name, q[i].name);
		for (uint32_t k = 0; k < p[i].part_count; k++)
			assert_memory_equal(&flow_parts(a)[p[i].first_part + k],
					    &flow_parts(b)[q[i].first_part + k],
					    sizeof(struct part));
	}
	assert_int_equal(a->fragments.len, b->fragments.len);
	assert_int_equal(a->code_pointers.len, b->code_pointers.len);
	if (a->code_pointers.len)
		assert_memory_equal(a->code_pointers.data, b->code_pointers.data,
				    a->code_pointers.len * sizeof(uint64_t));
}

static bool is_loaded(void)
{
	struct flow *f = new_flow();
	bool loaded = start_cache_load(f);
	assert_true(loaded || !f->funcs.len);
	flow_close(f);
	return loaded;
}

static void cached_starts_are_those_of_the_file(void **state)
{
	struct flow *plain, *first, *second;
	struct err e;
	(void)state;
	assert_int_equal(flow_open(&plain, module, &e), 0);
	assert_false(cache_folder_has("starts-"));
	assert_int_equal(flow_open_cached(&first, module, &e), 0);
	assert_false(cache_folder_has("starts-")); /* nobody has asked for a function */
	check_same(plain, first);
	assert_true(cache_folder_has("starts-") && is_loaded());
	assert_int_equal(flow_open_cached(&second, module, &e), 0);
	check_same(plain, second);
	flow_discover(plain);
	flow_discover(second);
	check_same(plain, second);
	flow_close(plain);
	flow_close(first);
	flow_close(second);
}

static void store(void)
{
	struct flow *f;
	struct err e;
	uint32_t count;
	assert_int_equal(flow_open_cached(&f, module, &e), 0);
	flow_functions(f, &count);
	flow_close(f);
	assert_true(cache_folder_has("starts-") && is_loaded());
}

/* A flow that has lost its starts, as if the file gave none, and its cache. */
static struct flow *open_without_starts(void)
{
	struct flow *f;
	struct err e;
	uint32_t count;
	assert_int_equal(flow_open_cached(&f, module, &e), 0);
	flow_functions(f, &count);
	vec_clear(&f->funcs);
	vec_clear(&f->fragments);
	publish(f);
	start_cache_store(f);
	return f;
}

static void what_was_searched_is_kept(void **state)
{
	enum { TRIED = 40 };
	struct flow *plain, *first = open_without_starts(), *second, *third;
	struct err e;
	uint32_t count, step;
	(void)state;
	assert_int_equal(flow_open(&plain, module, &e), 0);
	const struct function *all = flow_functions(plain, &count);
	step = count / TRIED;
	assert_true(step);
	for (uint32_t i = 0; i < TRIED; i++)
		search_near(first, all[i * step].start);
	assert_true(first->searched.len >= TRIED / 2 && first->funcs.len);
	uint32_t found = first->funcs.len, functions[TRIED];
	bool searched[TRIED];
	for (uint32_t i = 0; i < TRIED; i++) {
		functions[i] = flow_function_at(first, all[i * step].start);
		searched[i] = flow_is_searched(first, all[i * step].start);
	}
	flow_close(first);
	assert_int_equal(flow_open_cached(&second, module, &e), 0);
	flow_functions(second, &count);
	assert_int_equal(count, found);
	for (uint32_t i = 0; i < TRIED; i++) {
		assert_int_equal(flow_function_at(second, all[i * step].start), functions[i]);
		assert_int_equal(flow_is_searched(second, all[i * step].start), searched[i]);
	}
	/* Discovery as a whole is not for the cache. */
	flow_discover(second);
	flow_close(second);
	assert_int_equal(flow_open_cached(&third, module, &e), 0);
	flow_functions(third, &count);
	assert_int_equal(count, found);
	flow_close(third);
	flow_close(plain);
}

/* The cache is for the file alone. */
static void modules_with_more_symbols_are_not_stored(void **state)
{
	struct flow *f;
	struct err e;
	uint32_t count;
	(void)state;
	assert_int_equal(flow_open_cached(&f, module, &e), 0);
	module_add_symbols(module, module);
	flow_functions(f, &count);
	assert_true(count);
	flow_close(f);
	assert_false(cache_folder_has("starts-"));
}

/* Whichever byte is damaged, and wherever the file ends, it is not used. */
static void damaged_files_are_ignored(void **state)
{
	struct stat st;
	(void)state;
	store();
	assert_int_equal(stat(cache_file, &st), 0);
	int fd = open(cache_file, O_RDWR);
	for (off_t at = 0; at < st.st_size; at += st.st_size / 23 + 1) {
		uint8_t byte, other;
		assert_int_equal(pread(fd, &byte, 1, at), 1);
		other = (uint8_t)(byte ^ 0x10);
		assert_int_equal(pwrite(fd, &other, 1, at), 1);
		assert_false(is_loaded());
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	assert_true(is_loaded());
	assert_int_equal(ftruncate(fd, st.st_size - 1), 0);
	assert_false(is_loaded());
	assert_int_equal(ftruncate(fd, 10), 0);
	assert_false(is_loaded());
	close(fd);
}

/* A file with the right name may hold starts that do not fit this module. */
static void starts_outside_code_are_ignored(void **state)
{
	(void)state;
	store();
	struct section *s = (struct section *)(uintptr_t)module->sections;
	uint64_t text = 0;
	for (uint32_t i = 0; i < module->section_count; i++)
		if (!strcmp(s[i].name, ".text")) {
			text = s[i].va;
			s[i].execute = false;
		}
	assert_true(text);
	assert_false(is_loaded());
}

/* Without a place to write, everything works as without a cache. */
static void nothing_depends_on_the_cache(void **state)
{
	struct flow *plain, *other;
	struct err e;
	(void)state;
	setenv("XDG_CACHE_HOME", "/proc/self/fdinfo", 1);
	assert_int_equal(flow_open(&plain, module, &e), 0);
	assert_int_equal(flow_open_cached(&other, module, &e), 0);
	check_same(plain, other);
	flow_close(plain);
	flow_close(other);
	setenv("XDG_CACHE_HOME", cache_folder, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(cached_starts_are_those_of_the_file, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_was_searched_is_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(modules_with_more_symbols_are_not_stored, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(damaged_files_are_ignored, set_up, tear_down),
		cmocka_unit_test_setup_teardown(starts_outside_code_are_ignored, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nothing_depends_on_the_cache, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
