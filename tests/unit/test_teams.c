/* Teams of OpenMP: call paths of workers, and what they wait for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/vec.h"
#include "diagnose/teams.h"

enum { PROCESS = 7, MASTER = 1, WORKER = 2, OTHER = 3 };
/* Parts of the code. */
enum { MAIN = 10, LOOP, SERIAL, REGION, BODY, SECOND, INNER };

static struct teams the;
static resource_list chain;

static int start(void **state)
{
	(void)state;
	memset(&the, 0, sizeof(the));
	memset(&chain, 0, sizeof(chain));
	return 0;
}

static int finish(void **state)
{
	(void)state;
	teams_release(&the);
	vec_free(&chain);
	return 0;
}

static void set_chain(const uint32_t *parts, uint32_t n)
{
	vec_clear(&chain);
	for (uint32_t i = 0; i < n; i++)
		vec_push(&chain, parts[i]);
}

#define CHAIN(...) set_chain((const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4)

static void assert_list(const uint32_t *parts, uint32_t n)
{
	assert_int_equal(chain.len, n);
	assert_memory_equal(chain.data, parts, n * sizeof(*parts));
}

#define ASSERT_CHAIN(...)                                                                          \
	assert_list((const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4)

static bool sample(uint32_t thread, struct team_place place)
{
	return teams_sample(&the, PROCESS, thread, &place, 0.01, &chain);
}

/* main (loop) > region (body) */
static void master_in_region(void)
{
	CHAIN(MAIN, LOOP, REGION, BODY);
	assert_false(sample(MASTER, (struct team_place){.region_count = 1, .regions = {2}}));
	ASSERT_CHAIN(MAIN, LOOP, REGION, BODY);
}

static void master_between_regions(int samples)
{
	for (int i = 0; i < samples; i++) {
		CHAIN(MAIN, LOOP, SERIAL);
		assert_true(sample(MASTER, (struct team_place){0}));
	}
}

static const struct team_place working = {.worker = true, .region_count = 1};

static void workers_have_the_call_path_of_the_master(void **state)
{
	(void)state;
	CHAIN(REGION, BODY);
	sample(WORKER, working);
	ASSERT_CHAIN(REGION, BODY); /* not known yet */
	master_in_region();
	CHAIN(REGION);
	sample(WORKER, working);
	ASSERT_CHAIN(MAIN, LOOP, REGION);
	/* Another path, longer or shorter. */
	CHAIN(MAIN, LOOP, SERIAL, INNER, REGION);
	sample(MASTER, (struct team_place){.region_count = 1, .regions = {4}});
	CHAIN(REGION);
	sample(WORKER, working);
	ASSERT_CHAIN(MAIN, LOOP, SERIAL, INNER, REGION);
	CHAIN(MAIN, REGION);
	sample(MASTER, (struct team_place){.region_count = 1, .regions = {1}});
	CHAIN(REGION, BODY);
	sample(WORKER, working);
	ASSERT_CHAIN(MAIN, REGION, BODY);
}

static void a_master_in_the_runtime_waits_for_its_region(void **state)
{
	(void)state;
	master_in_region();
	CHAIN(MAIN, LOOP);
	assert_false(sample(MASTER, (struct team_place){.inside = true}));
	ASSERT_CHAIN(MAIN, LOOP, REGION);
	CHAIN(MAIN);
	sample(MASTER, (struct team_place){.inside = true});
	ASSERT_CHAIN(MAIN);
}

static void regions_within_regions_have_paths(void **state)
{
	(void)state;
	master_in_region();
	/* The worker is the master of an inner team. */
	CHAIN(REGION, BODY, SECOND);
	sample(WORKER, (struct team_place){.worker = true, .region_count = 2, .regions = {0, 2}});
	ASSERT_CHAIN(MAIN, LOOP, REGION, BODY, SECOND);
	CHAIN(SECOND, INNER);
	sample(OTHER, working);
	ASSERT_CHAIN(MAIN, LOOP, REGION, BODY, SECOND, INNER);
}

static void workers_wait_for_serial_code_as_long_as_it_takes(void **state)
{
	(void)state;
	master_in_region();
	vec_clear(&chain);
	sample(WORKER, (struct team_place){.worker = true, .inside = true});
	assert_float_equal(teams_wait(&the, PROCESS, WORKER, 0.01), 0, 1e-9);
	teams_region(&the, PROCESS, &chain);
	ASSERT_CHAIN(MAIN, LOOP, REGION);
	master_between_regions(3);
	assert_float_equal(teams_wait(&the, PROCESS, WORKER, 0.02), 0.02, 1e-9);
	teams_serial(&the, PROCESS, &chain);
	ASSERT_CHAIN(MAIN, LOOP, SERIAL);
	assert_float_equal(teams_wait(&the, PROCESS, WORKER, 0.02), 0.01, 1e-9);
	assert_float_equal(teams_wait(&the, PROCESS, WORKER, 0.02), 0, 1e-9);
}

/* A worker that does something else meanwhile does not wait for serial code afterwards. */
static void serial_code_is_forgotten(void **state)
{
	(void)state;
	master_in_region();
	CHAIN(REGION);
	sample(WORKER, working);
	master_between_regions(100);
	CHAIN(REGION);
	sample(WORKER, working);
	assert_true(teams_wait(&the, PROCESS, WORKER, 1) <= 0.2 + 1e-9);
}

static void only_masters_are_serial(void **state)
{
	(void)state;
	CHAIN(MAIN, SERIAL);
	assert_false(sample(MASTER, (struct team_place){0}));
	master_in_region();
	CHAIN(MAIN, SERIAL);
	assert_false(sample(OTHER, (struct team_place){0}));
	assert_true(sample(MASTER, (struct team_place){0}));
}

static void functions_of_the_runtime_tell_what_is_awaited(void **state)
{
	(void)state;
	assert_string_equal(team_waits_for("GOMP_parallel"), team_region_end);
	assert_string_equal(team_waits_for("__kmpc_fork_call"), team_region_end);
	assert_string_equal(team_waits_for("GOMP_barrier"), "a barrier");
	assert_string_equal(team_waits_for("GOMP_loop_end"), "a barrier");
	assert_string_equal(team_waits_for("GOMP_critical_start"), "a critical section");
	assert_string_equal(team_waits_for("GOMP_taskwait"), "tasks");
	assert_string_equal(team_waits_for("__kmpc_omp_taskwait"), "tasks");
	assert_string_equal(team_waits_for(""), "a barrier");
	assert_null(team_waits_for("GOMP_loop_dynamic_next"));
	assert_null(team_waits_for("__kmpc_dispatch_next_4"));
	assert_null(team_waits_for("__kmpc_omp_task"));
	assert_null(team_waits_for("omp_get_thread_num"));
}

#define TEAM_TEST(function) cmocka_unit_test_setup_teardown(function, start, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEAM_TEST(workers_have_the_call_path_of_the_master),
		TEAM_TEST(a_master_in_the_runtime_waits_for_its_region),
		TEAM_TEST(regions_within_regions_have_paths),
		TEAM_TEST(workers_wait_for_serial_code_as_long_as_it_takes),
		TEAM_TEST(serial_code_is_forgotten),
		TEAM_TEST(only_masters_are_serial),
		TEAM_TEST(functions_of_the_runtime_tell_what_is_awaited),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
