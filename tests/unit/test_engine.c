/* The engine, on demand: a process is traced for a while, and left again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "probe/engine/engine.h"

static struct engine *engine;

static int setup(void **state)
{
	const struct engine_options options = {.lazy = true, .unprobed = true};
	(void)state;
	engine = engine_new(&options);
	engine_on_demand(engine);
	alarm(200); /* nothing here takes long: a hang is a failure */
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	engine_free(engine);
	alarm(0);
	return 0;
}

static int child(void)
{
	int pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		for (;;)
			pause();
	engine_expect_end(engine, pid);
	return pid;
}

static struct target *attached(int pid)
{
	struct target *t = NULL;
	struct err e;
	if (engine_attach(engine, pid, &t, &e))
		fail_msg("%s", e.text);
	return t;
}

static void expect_end(int pid, int signal)
{
	struct engine_event ev;
	assert_true(engine_poll(engine, 10000, &ev));
	assert_int_equal(ev.what, ENGINE_ENDED);
	assert_int_equal(ev.pid, pid);
	assert_null(ev.target);
	assert_true(WIFSIGNALED(ev.status));
	assert_int_equal(WTERMSIG(ev.status), signal);
	assert_false(engine_poll(engine, 20, &ev));
}

static void end(int pid)
{
	siginfo_t info;
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

static void test_end_while_it_is_left_alone(void **state)
{
	(void)state;
	int pid = child();
	struct target *t = attached(pid);
	target_rest(t);
	engine_drop(engine, t);
	assert_int_equal(kill(pid, 0), 0);
	end(pid);
	expect_end(pid, SIGKILL);
}

static void test_end_while_it_is_being_left(void **state)
{
	(void)state;
	int pid = child();
	struct target *t = attached(pid);
	end(pid);
	target_rest(t);
	engine_drop(engine, t);
	expect_end(pid, SIGKILL);
}

static void test_end_that_is_known_when_it_is_left(void **state)
{
	struct err e;
	(void)state;
	int pid = child();
	struct target *t = attached(pid);
	end(pid);
	assert_int_not_equal(target_look(t, &e), 0);
	assert_int_equal(e.code, ERR_ENDED);
	target_rest(t);
	engine_drop(engine, t);
	expect_end(pid, SIGKILL);
}

/* Ends by itself after some time. */
static int mortal_child(unsigned us)
{
	int pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		usleep(us);
		_exit(7);
	}
	engine_expect_end(engine, pid);
	return pid;
}

static void test_end_at_any_moment(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		int pid = mortal_child(i * 50);
		struct target *t;
		struct engine_event ev;
		struct err e;
		bool ended = false;
		for (double late = now_seconds() + 10; !ended && now_seconds() < late;) {
			if (!engine_attach(engine, pid, &t, &e)) {
				target_rest(t);
				engine_drop(engine, t);
			}
			ended = engine_poll(engine, 1, &ev) && ev.what == ENGINE_ENDED;
		}
		assert_true(ended);
		assert_int_equal(ev.pid, pid);
		assert_int_equal(ev.status, 7 << 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_end_while_it_is_left_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_end_while_it_is_being_left, setup, teardown),
		cmocka_unit_test_setup_teardown(test_end_that_is_known_when_it_is_left, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_end_at_any_moment, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
