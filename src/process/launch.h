/* Starting a program so that observation can be set up before its first instruction.
 *
 *	launch_prepare()   forks; the child waits just before exec
 *	...                open perf events on it, or seize it
 *	launch_go()        lets it exec; reports if that failed
 *
 * If Sonde dies before launch_go(), the child ends without having run anything. */
#pragma once
#include <stdbool.h>

#include "base/err.h"

struct launch {
	int pid;
	int go;     /* write end: one byte lets the child exec */
	int failed; /* read end: errno of a failed exec, or end of file */
};

/* Remembers which signals are blocked and ignored now; programs are started with the same ones.
 * Must be called before Sonde changes either. Only the first call counts. launch_prepare() calls
 * it, too. */
void launch_remember_signals(void);

/* Whether exec can succeed, as far as that can be known before. The name is looked up in PATH as a
 * shell does. launch_go() explains what is wrong. */
bool launch_can_start(const char *name);

/* Forks the child, for a program argv[0] that is looked up in PATH as well. */
int launch_prepare(struct launch *l, char *const *argv, struct err *e);
/* Returns 0, or an error: then *why is the errno of exec (ENOENT, EACCES, ...), and the child has
 * been reaped. */
int launch_go(struct launch *l, const char *name, int *why, struct err *e);

/* Waits until a program that was started has ended; *status is as waitpid() returns it. Signal
 * handlers of Sonde, which pass signals on to the program, still run during the wait. */
void launch_wait(int pid, int *status);
