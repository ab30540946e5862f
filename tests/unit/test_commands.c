/* What processes execute, and how many work at a time: reports that are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/commands.h"

enum { MAKE = 100, DRIVER, COMPILER, SECOND, LINKER };

struct fixture {
	struct arena arena;
	struct commands c;
	command_list told;
} the;

static int start(void **state)
{
	(void)state;
	memset(&the, 0, sizeof(the));
	arena_init(&the.arena);
	commands_init(&the.c, &the.arena);
	commands_executed(&the.c, MAKE, 10);
	commands_named(&the.c, MAKE, "make", 10);
	return 0;
}

static int finish(void **state)
{
	(void)state;
	vec_free(&the.told);
	commands_release(&the.c);
	arena_release(&the.arena);
	return 0;
}

static void run(int parent, int pid, const char *name, double when)
{
	commands_forked(&the.c, parent, pid, when);
	commands_executed(&the.c, pid, when);
	commands_named(&the.c, pid, name, when);
}

static void end(int pid, double when)
{
	commands_ended(&the.c, pid, when);
}

static void tell(double now)
{
	vec_free(&the.told);
	commands_until(&the.c, now, &the.told);
}

static const struct command_sum *command(const char *name)
{
	vec_each (c, &the.told)
		if (!strcmp(c->name, name))
			return c;
	fail_msg("there is no command %s", name);
	return NULL;
}

static void assert_time(double is, double should_be)
{
	if (fabs(is - should_be) > 1e-9)
		fail_msg("%g s, not %g s", is, should_be);
}

static void processes_are_added_up_by_command(void **state)
{
	(void)state;
	run(MAKE, COMPILER, "cc1", 11);
	end(COMPILER, 12);
	run(MAKE, COMPILER, "cc1", 13); /* the pid is used again */
	commands_ran(&the.c, COMPILER, 1.5);
	end(COMPILER, 16);
	tell(20);
	assert_int_equal(command("cc1")->processes, 2);
	assert_time(command("cc1")->cpu, 1.5);
	assert_time(command("cc1")->wall, 4);
	assert_time(command("cc1")->longest, 3);
	assert_time(command("cc1")->first, 11);
	assert_time(command("cc1")->last, 16);
	assert_int_equal(command("make")->processes, 1);
	assert_time(command("make")->wall, 10);
}

/* make and the driver wait, the compilers work side by side, and the linker works in the end. */
static void who_waits_for_children_does_not_work(void **state)
{
	(void)state;
	run(MAKE, DRIVER, "cc", 11);
	run(DRIVER, COMPILER, "cc1", 11);
	run(MAKE, SECOND, "cc1", 12);
	end(COMPILER, 14);
	end(DRIVER, 14);
	end(SECOND, 15);
	run(MAKE, LINKER, "ld", 15);
	end(LINKER, 18);
	end(MAKE, 18);
	tell(18);
	assert_time(command("make")->alone, 1);
	assert_time(command("cc")->alone, 0);
	assert_time(command("cc1")->alone, 2);
	assert_time(command("cc1")->closing, 1);
	assert_time(command("ld")->alone, 3);
	assert_time(command("ld")->closing, 3);
}

static void nothing_is_closing_while_several_work(void **state)
{
	(void)state;
	run(MAKE, COMPILER, "cc1", 11);
	run(MAKE, SECOND, "cc1", 13);
	tell(14);
	assert_time(command("cc1")->alone, 2);
	assert_time(command("cc1")->closing, 0);
	assert_time(command("cc1")->wall, 4);
}

static void a_copy_is_one_of_its_parents_command(void **state)
{
	(void)state;
	commands_forked(&the.c, MAKE, SECOND, 11);
	commands_ran(&the.c, SECOND, 2);
	end(SECOND, 14);
	tell(14);
	assert_int_equal(command("make")->processes, 2);
	assert_time(command("make")->cpu, 2);
}

/* As of "sh -c 'exec gcc'". */
static void a_process_may_execute_several(void **state)
{
	(void)state;
	run(MAKE, DRIVER, "sh", 11);
	commands_used(&the.c, DRIVER, 100000000);
	commands_executed(&the.c, DRIVER, 12);
	commands_named(&the.c, DRIVER, "cc", 12);
	commands_used(&the.c, DRIVER, 400000000);
	end(DRIVER, 15);
	tell(15);
	assert_int_equal(command("sh")->processes, 1);
	assert_time(command("sh")->wall, 1);
	assert_time(command("sh")->cpu, 0.1);
	assert_time(command("cc")->wall, 3);
	assert_time(command("cc")->cpu, 0.3);
}

/* A shell that somebody types at. */
static void who_ran_before_never_works(void **state)
{
	(void)state;
	commands_ended(&the.c, MAKE, 10);
	commands_named(&the.c, 50, "bash", 10);
	run(50, COMPILER, "cc1", 14);
	end(COMPILER, 15);
	tell(20);
	assert_int_equal(command("bash")->processes, 0);
	assert_time(command("bash")->alone, 0);
	assert_time(command("cc1")->alone, 1);
}

static void lost_reports_do_no_harm(void **state)
{
	(void)state;
	run(MAKE, COMPILER, "cc1", 11);
	run(COMPILER, COMPILER, "as", 12); /* it has ended, and its pid is used again */
	end(SECOND, 13);
	commands_forked(&the.c, SECOND, LINKER, 13);
	commands_ran(&the.c, LINKER, 1);
	commands_executed(&the.c, SECOND, 13);
	end(MAKE, 14);
	tell(15);
	assert_time(command("cc1")->wall, 1);
	assert_time(command("make")->wall, 4);
}

static void names_are_limited(void **state)
{
	char name[16];
	(void)state;
	for (int i = 0; i < 2 * MOST_COMMANDS; i++) {
		snprintf(name, sizeof(name), "test-%d", i);
		run(MAKE, 1000 + i, name, 11);
		end(1000 + i, 12);
	}
	tell(20);
	assert_in_range(the.told.len, MOST_COMMANDS, MOST_COMMANDS + 1);
	assert_in_range(command("")->processes, MOST_COMMANDS, MOST_COMMANDS + 2);
}

#define assert_argument(expected, ...)                                                             \
	do {                                                                                       \
		static const char arguments[] = __VA_ARGS__;                                       \
		char out[ARGUMENT_SIZE];                                                           \
		distinguishing_argument(arguments, sizeof(arguments), out);                        \
		assert_string_equal(out, expected);                                                \
	} while (0)

static void arguments_tell_siblings_apart(void **state)
{
	(void)state;
	assert_argument("lvm.c", "cc1\0-quiet\0src/lvm.c\0-dumpbase-ext\0.c\0-o\0/tmp/cc12.s");
	assert_argument("lvm.o", "as\0--64\0-o\0lvm.o\0/tmp/cc12.s");
	assert_argument("lua", "ld\0-o\0bin/lua\0lua.o\0-lm\0--end-group");
	assert_argument("big.txt", "gzip\0-9\0data/big.txt");
	assert_argument("for i in 1 2; do", "sh\0-c\0for i in 1 2; do\n true; done");
	assert_argument("make -C a/b", "sh\0-c\0make -C a/b");
	assert_argument("", "gzip\0-9");
	assert_argument("", "make");
	assert_argument("", "");
	assert_argument("/", "ls\0/");
	assert_argument("a-very-long-name-of-which-only-the-beginning-is",
			"cat\0a-very-long-name-of-which-only-the-beginning-is-kept");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(processes_are_added_up_by_command, start, finish),
		cmocka_unit_test_setup_teardown(who_waits_for_children_does_not_work, start,
						finish),
		cmocka_unit_test_setup_teardown(nothing_is_closing_while_several_work, start,
						finish),
		cmocka_unit_test_setup_teardown(a_copy_is_one_of_its_parents_command, start,
						finish),
		cmocka_unit_test_setup_teardown(a_process_may_execute_several, start, finish),
		cmocka_unit_test_setup_teardown(who_ran_before_never_works, start, finish),
		cmocka_unit_test_setup_teardown(lost_reports_do_no_harm, start, finish),
		cmocka_unit_test_setup_teardown(names_are_limited, start, finish),
		cmocka_unit_test(arguments_tell_siblings_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
