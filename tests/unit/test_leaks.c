/* That the tests would find a leak: leaks.c decides whether LeakSanitizer looks for any. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile block;

/* The status of a program that takes a block and gives it back or loses it. */
static int status_of(const char *what)
{
	int status;
	pid_t pid = fork();
	if (!pid) {
		int null = open("/dev/null", O_WRONLY); /* the report of a leak is no news */
		dup2(null, STDERR_FILENO);
		execl("/proc/self/exe", "test_leaks", what, (char *)NULL);
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static int take(const char *what)
{
	block = malloc(100);
	if (!strcmp(what, "return"))
		free(block);
	block = NULL;
	return 0;
}

static void a_returned_block_is_no_leak(void **state)
{
	(void)state;
	assert_int_equal(status_of("return"), 0);
}

static void a_lost_block_is_found(void **state)
{
	const char *options = getenv("ASAN_OPTIONS");
	(void)state;
	if (!options || !strstr(options, "detect_leaks=1"))
		skip();
	assert_int_not_equal(status_of("lose"), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_returned_block_is_no_leak),
		cmocka_unit_test(a_lost_block_is_found),
	};
	if (argc > 1)
		return take(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
