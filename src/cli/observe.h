/* What the commands that observe programs share (record, count, path): the program that is started
 * or the process that runs already, the profile that is written, and how it ends. */
#pragma once
#include "cli/args/usual.h"
#include "session/session.h"

/* Each of these exits if it is not so. */
void check_output(const char *output);
/* Either a program to run or a process. `must` is what the command needs besides, "-f FUNC ". */
void check_program(const char *command, const char *must, const struct operands *operands,
		   const struct option_number *pid);

/* Complains that nothing was observed, and returns the exit status; not_started is the errno of
 * exec, or 0. */
int observe_failed(const char *command, int not_started, const struct err *e);

/* What was observed, a sentence without its end, and where it is to be found. */
void observe_done(const char *output, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The exit status that passes on how the program ended. */
int observe_status(int status);
/* Waits for a program that runs on, and returns the exit status: the program's if one was launched,
 * unless there is a problem to complain about. */
int observe_end(const char *command, struct session *s);
