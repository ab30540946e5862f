/* Shared by the commands that observe programs (record, count, path, diagnose): checks of the
 * program or process and of the output file, messages, and the exit status. */
#pragma once
#include "cli/args/shared_options.h"
#include "session/session.h"

/* Both checks end Sonde with a message if they fail. This one: the output file must have a name. */
void check_output(const char *output);
/* And this one: there must be a program to run or a process, and not both. `must` is what else the
 * command line needs, for the message: "-f FUNC ". */
void check_either(const char *command, const char *must, const struct operands *operands,
		  bool attaches);
/* The same, where the process is told by its ID. */
void check_program(const char *command, const char *must, const struct operands *operands,
		   const struct option_number *pid);

/* Reports that nothing was observed, and returns the exit status; not_started is the errno of exec,
 * or 0. */
int observe_failed(const char *command, int not_started, const struct err *e);

/* Reports what was observed and where the profile is. The arguments make the beginning of the
 * sentence: "12 samples of 2 threads". */
void observe_done(const char *output, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Returns the exit status for a wait status of the program: its own, or 128 plus the number of the
 * signal that ended it. */
int observe_status(int status);
/* Waits for a program that still runs, and returns the exit status: EXIT_OURS if there was a
 * problem, which is reported, otherwise the program's if we launched one. */
int observe_end(const char *command, struct session *s);
