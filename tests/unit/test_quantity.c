/* Numbers that leave Sonde can be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/quantity.h"

static void what_can_be_stays(void **state)
{
	(void)state;
	assert_true(checked(A_SHARE, 0.25) == 0.25 && checked(A_SHARE, 0) == 0);
	assert_true(checked(A_TIME, 86400) == 86400 && checked(A_CHANGE, -3.5) == -3.5);
	assert_true(percent(0.5) == 50 && percent_of(1, 4) == 25 && percent_of(0, 0) == 0);
	assert_true(percent_change(-1, 4) == -25 && percent_change(1, 0) == 0);
	assert_true(share_of(1, 2) == 0.5 && share_of(1, 0) == 0);
}

/* A sum of many numbers is not exact. */
static void rounding_is_no_bug(void **state)
{
	(void)state;
	assert_true(checked(A_SHARE, 1 + 1e-9) == 1 && checked(A_SHARE, -1e-12) == 0);
	assert_true(percent(1 + 1e-9) == 100);
}

static void others_are_asked_first(void **state)
{
	(void)state;
	assert_true(can_be(A_SHARE, 0.5) && !can_be(A_SHARE, 1.01) && !can_be(A_SHARE, -0.01));
	assert_false(can_be(A_SHARE, NAN) || can_be(A_TIME, INFINITY) || can_be(A_RATE, 1e16));
}

/* How a process ends that shows this; or the number that it shows. */
static int shown(enum quantity what, double value, double *out)
{
	int pipes[2], status;
	assert_int_equal(pipe(pipes), 0);
	pid_t child = fork();
	if (!child) {
		dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		double number = checked(what, value);
		_exit(write(pipes[1], &number, sizeof(number)) != sizeof(number));
	}
	close(pipes[1]);
	if (read(pipes[0], out, sizeof(*out)) != sizeof(*out))
		*out = NAN;
	close(pipes[0]);
	waitpid(child, &status, 0);
	return status;
}

/* A checked build stops there; any other shows the nearest that can be. */
static void what_cannot_be_is_a_bug(void **state)
{
	static const struct {
		enum quantity what;
		double value, nearest;
	} rows[] = {
		{A_SHARE, 3979685015.024, 1}, {A_SHARE, -0.5, 0},   {A_SHARE, NAN, 0},
		{A_PERCENT, 101, 100},        {A_TIME, -1, 0},      {A_TIME, INFINITY, 3.2e9},
		{A_RATE, 1e300, 1e15},        {A_FACTOR, -1e-3, 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		double out;
		int status = shown(rows[i].what, rows[i].value, &out);
		if (checks_wanted())
			assert_true(!WIFEXITED(status) || WEXITSTATUS(status));
		else
			assert_true(out == rows[i].nearest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_can_be_stays),
		cmocka_unit_test(rounding_is_no_bug),
		cmocka_unit_test(others_are_asked_first),
		cmocka_unit_test(what_cannot_be_is_a_bug),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
