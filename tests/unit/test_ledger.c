/* What was measured, added up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "diagnose/ledger.h"

static double sum_of(const struct ledger *l, uint32_t part, enum amount what)
{
	double sum = 0;
	ledger_each (e, l, part)
		sum += e->amount[what];
	return sum;
}

static uint32_t entries_of(const struct ledger *l, uint32_t part)
{
	uint32_t n = 0;
	ledger_each (e, l, part) {
		assert_int_equal(e->part, part);
		n++;
	}
	return n;
}

static void amounts_of_a_part_add_up(void **state)
{
	struct ledger l = {0};
	(void)state;
	ledger_add(&l, 10, 0, LEDGER_NONE, AMOUNT_CPU, 1);
	ledger_add(&l, 10, 0, LEDGER_NONE, AMOUNT_CPU, 2);
	ledger_add(&l, 10, 1, LEDGER_NONE, AMOUNT_CPU, 4);
	ledger_add(&l, 10, 1, 5, AMOUNT_WAIT, 8);
	ledger_add(&l, 11, 1, 5, AMOUNT_WAIT, 16);
	assert_int_equal(entries_of(&l, 10), 3);
	assert_int_equal(entries_of(&l, 11), 1);
	assert_true(sum_of(&l, 10, AMOUNT_CPU) == 7);
	assert_true(sum_of(&l, 10, AMOUNT_WAIT) == 8);
	assert_true(sum_of(&l, 11, AMOUNT_WAIT) == 16);
	assert_null(ledger_first(&l, 12));
	ledger_release(&l);
}

static void steps_become_cpu_time_by_rates(void **state)
{
	struct ledger l = {0};
	const struct ledger_rate rates[] = {{.running = 1}, {.running = 0.5, .waiting = 0.25}};
	(void)state;
	ledger_step(&l, 10, 0, STEP_WALL, 3);
	ledger_step(&l, 10, 0, STEP_WALL, 1);
	ledger_step(&l, 10, 0, STEP_WAITED, 1);
	ledger_step(&l, 10, 1, STEP_WALL, 4);
	ledger_step(&l, 10, 1, STEP_WAITED, 2);
	ledger_settle(&l, rates);
	assert_true(sum_of(&l, 10, AMOUNT_CPU) == 3 + (2 * 0.5 + 2 * 0.25));
	/* What has become of them is not counted again. */
	ledger_settle(&l, rates);
	assert_true(sum_of(&l, 10, AMOUNT_CPU) == 4.5);
	ledger_step(&l, 10, 0, STEP_WALL, 2);
	ledger_settle(&l, rates);
	assert_true(sum_of(&l, 10, AMOUNT_CPU) == 6.5);
	ledger_release(&l);
}

/* The two are measured by different probes, and read one after the other. */
static void no_more_is_waited_than_passed(void **state)
{
	struct ledger l = {0};
	const struct ledger_rate rates[] = {{.running = 1, .waiting = 0}};
	(void)state;
	ledger_step(&l, 10, 0, STEP_WALL, 1);
	ledger_step(&l, 10, 0, STEP_WAITED, 3);
	ledger_settle(&l, rates);
	assert_true(sum_of(&l, 10, AMOUNT_CPU) == 0);
	assert_int_equal(entries_of(&l, 10), 0);
	ledger_release(&l);
}

static void many_entries_stay_apart(void **state)
{
	enum { PARTS = 300, THREADS = 7 };
	struct ledger l = {0};
	(void)state;
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t p = 0; p < PARTS; p++)
			for (uint32_t t = 0; t < THREADS; t++)
				ledger_add(&l, p, t, p % 3, AMOUNT_CALLS, p + t);
	for (uint32_t p = 0; p < PARTS; p++) {
		assert_int_equal(entries_of(&l, p), THREADS);
		assert_true(sum_of(&l, p, AMOUNT_CALLS) == 2.0 * (THREADS * p + 21));
	}
	ledger_release(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(amounts_of_a_part_add_up),
		cmocka_unit_test(steps_become_cpu_time_by_rates),
		cmocka_unit_test(no_more_is_waited_than_passed),
		cmocka_unit_test(many_entries_stay_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
