/* Recipes from the cache are those of the analysis, and a file that is not what was written is
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

#include "base/hashmap.h"
#include "cache_folder.h"
#include "unwind/recipe_cache.h"
#include "unwind/recipes.h"

enum { TRIED = 200, HEAD = 40, MOST_BYTES = 1 << 20 };

static const struct recipes_options cached = {.cached = true};
static struct module *module;
static struct flow *flow;

static int set_up(void **state)
{
	struct err e;
	(void)state;
	cache_folder_make();
	assert_int_equal(module_open(&module, "/proc/self/exe", &e), 0);
	assert_int_equal(flow_open(&flow, module, &e), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	cache_folder_remove("recipes-");
	flow_close(flow);
	module_close(module);
	return 0;
}

/* Visits functions from number `first` on, and compares with `plain`, if given, at each address. */
static void visit(struct recipes *r, struct recipes *plain, uint32_t first)
{
	uint32_t count;
	const struct function *all = flow_functions(flow, &count);
	assert_true(count > first + TRIED);
	for (uint32_t i = first; i < first + TRIED; i++)
		for (uint64_t va = all[i].start; va < all[i].end; va++) {
			struct recipe got = *recipes_at(r, va);
			if (plain)
				assert_memory_equal(&got, recipes_at(plain, va), sizeof(got));
			else
				break;
		}
}

/* A run that needs the recipes of some functions. */
static void run_from(uint32_t first)
{
	struct recipes *r = recipes_open(flow, &cached);
	visit(r, NULL, first);
	recipes_close(r);
}

static void is_right(void)
{
	struct recipes *r = recipes_open(flow, &cached), *plain = recipes_open(flow, NULL);
	visit(r, plain, 0);
	recipes_close(plain);
	recipes_close(r);
}

static uint32_t cached_spans(void)
{
	struct recipe_table t = {0};
	uint32_t spans = recipe_cache_load(&t, module) ? t.spans.len : 0;
	recipe_table_release(&t);
	return spans;
}

static void cached_recipes_are_those_of_the_analysis(void **state)
{
	(void)state;
	run_from(0);
	assert_true(cache_folder_has("recipes-"));
	uint32_t spans = cached_spans();
	assert_true(spans >= TRIED / 2);
	is_right();
	/* Nothing was analysed again. */
	assert_int_equal(cached_spans(), spans);
}

static void few_functions_are_not_worth_a_file(void **state)
{
	struct recipes *r = recipes_open(flow, &cached);
	uint32_t count;
	(void)state;
	const struct function *all = flow_functions(flow, &count);
	for (uint32_t i = 0; i < 20; i++)
		recipes_at(r, all[i].start);
	recipes_close(r);
	assert_false(cache_folder_has("recipes-"));
}

static void runs_add_to_what_is_there(void **state)
{
	(void)state;
	run_from(0);
	uint32_t before = cached_spans();
	run_from(TRIED);
	uint32_t after = cached_spans();
	assert_true(after >= before + TRIED / 2);
	run_from(0);
	assert_int_equal(cached_spans(), after);
	is_right();
}

/* What is known of code is found without the functions of the module. */
static void known_code_needs_no_functions(void **state)
{
	struct flow *lazy;
	struct err e;
	uint32_t count;
	(void)state;
	run_from(0);
	assert_int_equal(flow_open_cached(&lazy, module, &e), 0);
	struct recipes *r = recipes_open(lazy, &cached), *plain = recipes_open(flow, NULL);
	const struct function *all = flow_functions(flow, &count);
	for (uint32_t i = 0; i < TRIED; i++) {
		struct recipe got = *recipes_at(r, all[i].start);
		assert_memory_equal(&got, recipes_at(plain, all[i].start), sizeof(got));
	}
	assert_false(flow_is_ready(lazy));
	recipes_at(r, all[TRIED + 10].start);
	assert_true(flow_is_ready(lazy));
	recipes_close(r);
	recipes_close(plain);
	flow_close(lazy);
}

static uint8_t *read_file(size_t *size)
{
	uint8_t *bytes = xmalloc(MOST_BYTES);
	int fd = open(cache_file, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, bytes, MOST_BYTES);
	close(fd);
	assert_true(n > HEAD && n < MOST_BYTES);
	*size = (size_t)n;
	return bytes;
}

static void write_file(const uint8_t *bytes, size_t size)
{
	int fd = open(cache_file, O_WRONLY | O_TRUNC | O_CLOEXEC);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
}

static void damaged_files_are_ignored(void **state)
{
	size_t size;
	(void)state;
	run_from(0);
	assert_true(cache_folder_has("recipes-"));
	uint8_t *bytes = read_file(&size);
	for (size_t at = 0; at < size; at += 1 + at / 8) {
		bytes[at] ^= 4;
		write_file(bytes, size);
		assert_int_equal(cached_spans(), 0);
		bytes[at] ^= 4;
		write_file(bytes, at);
		assert_int_equal(cached_spans(), 0);
	}
	write_file(bytes, size - 1);
	is_right();
	assert_true(cached_spans() > 0);
	free(bytes);
}

static uint32_t word(const uint8_t *at)
{
	uint32_t x;
	memcpy(&x, at, sizeof(x));
	return x;
}

/* Gives the file the checksum of what is in it. */
static void sign(uint8_t *bytes)
{
	uint32_t spans = word(bytes + 24), entries = word(bytes + 28), recipes = word(bytes + 32);
	const size_t sizes[] = {spans * sizeof(struct known_span),
				entries * sizeof(struct recipe_entry),
				recipes * sizeof(struct recipe)};
	uint64_t sum = hash_bytes(bytes + 16, HEAD - 16, 0);
	const uint8_t *at = bytes + HEAD;
	for (uint32_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		sum = hash_bytes(at, sizes[i], sum);
		at += sizes[i];
	}
	memcpy(bytes + 8, &sum, sizeof(sum));
}

static void malicious_files_are_ignored(void **state)
{
	const uint32_t outside = 1 << 30;
	size_t size;
	(void)state;
	run_from(0);
	assert_true(cache_folder_has("recipes-"));
	uint8_t *bytes = read_file(&size);
	sign(bytes);
	write_file(bytes, size);
	assert_true(cached_spans() > 0); /* signing works */
	size_t entries = HEAD + word(bytes + 24) * sizeof(struct known_span);
	/* the first entry of a span, their number, and the recipe of an entry */
	const size_t places[] = {HEAD + offsetof(struct known_span, first),
				 HEAD + offsetof(struct known_span, count),
				 entries + offsetof(struct recipe_entry, recipe)};
	for (uint32_t i = 0; i < ARRAY_SIZE(places); i++) {
		uint32_t kept = word(bytes + places[i]);
		memcpy(bytes + places[i], &outside, sizeof(outside));
		sign(bytes);
		write_file(bytes, size);
		assert_int_equal(cached_spans(), 0);
		memcpy(bytes + places[i], &kept, sizeof(kept));
	}
	is_right();
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(cached_recipes_are_those_of_the_analysis, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(few_functions_are_not_worth_a_file, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(runs_add_to_what_is_there, set_up, tear_down),
		cmocka_unit_test_setup_teardown(known_code_needs_no_functions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(damaged_files_are_ignored, set_up, tear_down),
		cmocka_unit_test_setup_teardown(malicious_files_are_ignored, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
