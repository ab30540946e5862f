/* Starting a program so that observation can be set up before its first instruction.
 *
 *	launch_prepare()   forks; the child waits just before exec
 *	...                open perf events on it, or seize it
 *	launch_go()        lets it exec; tells if that failed
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

/* Remembers which signals are blocked and ignored now: programs are started so. To be called before
 * either is changed for our own needs; only the first call counts. launch_prepare() calls it too.
 */
void launch_remember_signals(void);

/* Whether exec can succeed, as far as that can be told; the name is looked up in PATH as a shell
 * does. launch_go() finds the words for what is wrong. */
bool launch_can_start(const char *name);

/* argv[0] is looked up in PATH, too. */
int launch_prepare(struct launch *l, char *const *argv, struct err *e);
/* 0, or an error with *why the errno of exec (ENOENT, EACCES, ...); the child is reaped then. */
int launch_go(struct launch *l, const char *name, int *why, struct err *e);

/* Waits until a program that was started has ended; *status is as of waitpid(). Signals that we
 * pass on to it still are. */
void launch_wait(int pid, int *status);
