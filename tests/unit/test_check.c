/* Violated invariants and fault points, in children of their own: SONDE_FAULT is read at the start.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"

/* What the child does: passes of `one` and `two` in turn, with a step between them. */
static int be_child(void)
{
	for (int i = 1; i <= 4; i++) {
		errno = 0;
		bool one = fault("one", EIO);
		printf("one %d %d\n", one, errno);
		death_point("between");
		errno = 0;
		bool two = fault("two", EMFILE);
		printf("two %d %d\n", two, errno);
		fflush(stdout);
	}
	return 0;
}

struct outcome {
	int status;
	char out[2000], err[2000];
};

static void read_all(int fd, char *to, size_t size)
{
	size_t done = 0;
	for (ssize_t n; (n = read(fd, to + done, size - 1 - done)) > 0;)
		done += (size_t)n;
	to[done] = '\0';
	close(fd);
}

static void run_with(const char *spec, struct outcome *o)
{
	int out[2], err[2];
	assert_int_equal(pipe(out), 0);
	assert_int_equal(pipe(err), 0);
	pid_t pid = fork();
	if (!pid) {
		dup2(out[1], STDOUT_FILENO);
		dup2(err[1], STDERR_FILENO);
		close(out[0]);
		close(err[0]);
		if (spec)
			setenv("SONDE_FAULT", spec, 1);
		execl("/proc/self/exe", "test_check", "child", NULL);
		abort();
	}
	close(out[1]);
	close(err[1]);
	read_all(out[0], o->out, sizeof(o->out));
	read_all(err[0], o->err, sizeof(o->err));
	waitpid(pid, &o->status, 0);
}

static void nothing_fails_unless_asked_to(void **state)
{
	struct outcome o;
	(void)state;
	run_with(NULL, &o);
	assert_int_equal(o.status, 0);
	assert_null(strstr(o.out, " 1 "));
	assert_string_equal(o.err, "");
	run_with("count", &o);
	assert_null(strstr(o.out, " 1 "));
	assert_non_null(strstr(o.err, "passed one 4\n"));
	assert_non_null(strstr(o.err, "passed two 4\n"));
	assert_non_null(strstr(o.err, "passed between 4\n"));
}

static void a_named_pass_fails_with_its_errno(void **state)
{
	struct outcome o;
	char expected[100];
	(void)state;
	run_with("two:3", &o);
	snprintf(expected, sizeof(expected), "one 0 0\ntwo 1 %d\none 0 0\ntwo 0 0\n", EMFILE);
	assert_string_equal(o.out + strlen("one 0 0\ntwo 0 0\none 0 0\ntwo 0 0\n"), expected);
	assert_non_null(strstr(o.err, "fails two 3\n"));
	run_with("one", &o);
	snprintf(expected, sizeof(expected), "one 1 %d\ntwo 0 0\none 0 0\n", EIO);
	assert_memory_equal(o.out, expected, strlen(expected));
}

static void all_passes_from_one_on_fail(void **state)
{
	struct outcome o;
	(void)state;
	run_with("two:2+", &o);
	assert_null(strstr(o.err, "fails two 1\n"));
	assert_non_null(strstr(o.err, "fails two 2\n"));
	assert_non_null(strstr(o.err, "fails two 4\n"));
}

/* Steps cannot fail, and do not count. */
static void the_nth_pass_of_any_point_fails(void **state)
{
	struct outcome o;
	(void)state;
	run_with("4", &o);
	assert_non_null(strstr(o.err, "fails two 2\n"));
	run_with("between", &o);
	assert_null(strstr(o.err, "fails"));
}

static void it_dies_where_it_is_told_to(void **state)
{
	struct outcome o;
	(void)state;
	run_with("die@between:2", &o);
	assert_true(WIFSIGNALED(o.status) && WTERMSIG(o.status) == SIGKILL);
	assert_string_equal(o.err, "dies between 2\n");
	assert_string_equal(o.out + strlen("one 0 0\ntwo 0 0\n"), "");
	run_with("bug@one", &o);
	assert_true(WIFSIGNALED(o.status) && WTERMSIG(o.status) == SIGABRT);
	assert_non_null(strstr(o.err, "sonde: this is a bug in sonde: "));
}

static void a_violated_invariant_is_cited(void **state)
{
	int ends[2], status;
	char said[1000];
	(void)state;
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (!pid) {
		dup2(ends[1], STDERR_FILENO);
		signal(SIGABRT, SIG_DFL);
		int seven = 7;
		bug_on(seven == 8, "P1");
		bug_on(seven == 7, "P3");
		_exit(0);
	}
	close(ends[1]);
	read_all(ends[0], said, sizeof(said));
	waitpid(pid, &status, 0);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	assert_non_null(strstr(said, "invariant P3 does not hold"));
	assert_non_null(strstr(said, "test_check.c:"));
	assert_non_null(strstr(said, "(seven == 7)"));
	assert_non_null(strchr(said, '\n'));
	assert_null(strchr(strchr(said, '\n') + 1, '\n'));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_fails_unless_asked_to),
		cmocka_unit_test(a_named_pass_fails_with_its_errno),
		cmocka_unit_test(all_passes_from_one_on_fail),
		cmocka_unit_test(the_nth_pass_of_any_point_fails),
		cmocka_unit_test(it_dies_where_it_is_told_to),
		cmocka_unit_test(a_violated_invariant_is_cited),
	};
	if (argc > 1 && !strcmp(argv[1], "child"))
		return be_child();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
