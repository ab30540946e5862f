#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/perf_event.h>
#include <string.h>

#include "sample/sampler.h"

static struct event find(const char *name)
{
	struct event ev = {0};
	struct err e = {0};
	if (event_find(&ev, name, &e))
		fail_msg("%s: %s", name, e.text);
	assert_string_equal(ev.name, name);
	return ev;
}

static void expect_refused(const char *name, const char *part)
{
	struct event ev;
	struct err e = {0};
	assert_int_equal(event_find(&ev, name, &e), ERR_INPUT);
	if (!strstr(e.text, part))
		fail_msg("'%s' does not say '%s'", e.text, part);
}

static void clocks_count_time(void **state)
{
	struct event ev = find("cpu-clock");
	(void)state;
	assert_int_equal(ev.type, PERF_TYPE_SOFTWARE);
	assert_int_equal(ev.config, PERF_COUNT_SW_CPU_CLOCK);
	assert_true(ev.clock);
	assert_string_equal(ev.unit, "ns");
	ev = find("task-clock");
	assert_int_equal(ev.config, PERF_COUNT_SW_TASK_CLOCK);
	assert_true(ev.clock && !ev.exclude_user && !ev.exclude_kernel);
}

static void software_and_hardware_have_the_names_of_perf(void **state)
{
	(void)state;
	assert_int_equal(find("major-faults").config, PERF_COUNT_SW_PAGE_FAULTS_MAJ);
	assert_int_equal(find("cs").config, find("context-switches").config);
	assert_false(find("page-faults").clock);
	assert_string_equal(find("page-faults").unit, "");
	assert_int_equal(find("cycles").type, PERF_TYPE_HARDWARE);
	assert_int_equal(find("cycles").config, PERF_COUNT_HW_CPU_CYCLES);
	assert_int_equal(find("ref-cycles").config, PERF_COUNT_HW_REF_CPU_CYCLES);
	assert_int_equal(find("branch-misses").config, PERF_COUNT_HW_BRANCH_MISSES);
}

static void caches_are_put_together(void **state)
{
	struct event ev = find("L1-dcache-load-misses");
	(void)state;
	assert_int_equal(ev.type, PERF_TYPE_HW_CACHE);
	assert_int_equal(ev.config, PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_OP_READ << 8 |
					    PERF_COUNT_HW_CACHE_RESULT_MISS << 16);
	assert_int_equal(find("iTLB-loads").config, PERF_COUNT_HW_CACHE_ITLB);
	assert_int_equal(find("LLC-store-misses").config,
			 PERF_COUNT_HW_CACHE_LL | PERF_COUNT_HW_CACHE_OP_WRITE << 8 | 1 << 16);
}

static void raw_numbers_are_hexadecimal(void **state)
{
	(void)state;
	assert_int_equal(find("r1a8").type, PERF_TYPE_RAW);
	assert_int_equal(find("r1a8").config, 0x1a8);
	assert_int_equal(find("rFFFFFFFFFFFFFFFF").config, UINT64_MAX);
	expect_refused("r11112222333344445", "no event");
	expect_refused("r", "no event");
}

static void modifiers_choose_the_level(void **state)
{
	struct event ev = find("cpu-clock:u");
	(void)state;
	assert_true(ev.clock && ev.exclude_kernel && !ev.exclude_user);
	ev = find("L1-dcache-loads:k");
	assert_true(ev.exclude_user && !ev.exclude_kernel);
	ev = find("r1a8:uk");
	assert_true(!ev.exclude_user && !ev.exclude_kernel && ev.type == PERF_TYPE_RAW);
	expect_refused("cpu-clock:z", "no event");
	expect_refused("cpu-clock:", "no event");
}

/* libpfm4 has names for what every kernel counts, whatever the machine. */
static void the_rest_comes_from_the_library(void **state)
{
	struct event ev = find("PERF_COUNT_HW_CPU_CYCLES");
	(void)state;
	assert_int_equal(ev.type, PERF_TYPE_HARDWARE);
	ev = find("PERF_COUNT_SW_PAGE_FAULTS:u");
	assert_int_equal(ev.config, PERF_COUNT_SW_PAGE_FAULTS);
	assert_true(ev.exclude_kernel && !ev.exclude_user);
}

static void mistakes_get_a_suggestion(void **state)
{
	char long_name[400];
	(void)state;
	expect_refused("cycels", "did you mean cycles?");
	expect_refused("cpu-clok:u", "did you mean cpu-clock?");
	expect_refused("L1-dcache-load-mises", "did you mean L1-dcache-load-misses?");
	expect_refused("quite-something-else", "page-faults");
	expect_refused("", "name");
	memset(long_name, 'x', sizeof(long_name));
	long_name[sizeof(long_name) - 1] = '\0';
	expect_refused(long_name, "name");
}

static void names_outlive_the_caller(void **state)
{
	char name[] = "page-faults";
	struct event ev;
	struct err e;
	(void)state;
	assert_int_equal(event_find(&ev, name, &e), 0);
	memset(name, 0, sizeof(name));
	assert_string_equal(ev.name, "page-faults");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks_count_time),
		cmocka_unit_test(software_and_hardware_have_the_names_of_perf),
		cmocka_unit_test(caches_are_put_together),
		cmocka_unit_test(raw_numbers_are_hexadecimal),
		cmocka_unit_test(modifiers_choose_the_level),
		cmocka_unit_test(the_rest_comes_from_the_library),
		cmocka_unit_test(mistakes_get_a_suggestion),
		cmocka_unit_test(names_outlive_the_caller),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
