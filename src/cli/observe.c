#include "cli/observe.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/term/die.h"
#include "process/launch.h"

void check_output(const char *output)
{
	if (!*output)
		die("--output needs the name of a file");
}

void check_either(const char *command, const char *must, const struct operands *operands,
		  bool attaches)
{
	if (operands->count && attaches)
		die("%s takes a program to run or a process to attach to, not both", command);
	if (!operands->count && !attaches)
		die("%s needs a program or a process: sonde %s %s-- CMD, or sonde %s %s-p PID",
		    command, command, must, command, must);
}

void check_program(const char *command, const char *must, const struct operands *operands,
		   const struct option_number *pid)
{
	check_either(command, must, operands, pid->given);
	if (pid->given && (!pid->value || pid->value > INT32_MAX))
		die("--pid takes a process ID, not %" PRIu64, pid->value);
}

int observe_failed(const char *command, int not_started, const struct err *e)
{
	complain("%s: %s", command, e->text);
	if (!not_started)
		return EXIT_OURS;
	return not_started == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE;
}

void observe_done(const char *output, const char *fmt, ...)
{
	char what[500];
	bool named = strcmp(output, DEFAULT_PROFILE) != 0;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	complain("%s, written to %s; view with: sonde report%s%s", what, output, named ? " " : "",
		 named ? output : "");
}

int observe_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int observe_end(const char *command, struct session *s)
{
	if (s->problem[0])
		complain("%s: %s", command, s->problem);
	if (s->program) /* it still runs after --duration */
		launch_wait(s->program, &s->status);
	if (s->problem[0])
		return EXIT_OURS;
	return s->o->argv ? observe_status(s->status) : EXIT_SUCCESS;
}
