#include "session/signals.h"

#include <signal.h>
#include <stddef.h>

#include "base/vec.h"

static const int caught[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE};

static volatile sig_atomic_t want_end;
static volatile sig_atomic_t program_pid;
static struct sigaction before[ARRAY_SIZE(caught)];
static bool changed[ARRAY_SIZE(caught)];

static void end_recording(int signal)
{
	(void)signal;
	want_end = 1;
}

static void pass_on(int signal)
{
	if (signal == SIGTERM && program_pid)
		kill(program_pid, signal);
	else if (signal == SIGTERM)
		want_end = 1;
}

/* Without SA_RESTART, so that system calls that wait for samples return. */
static void set_handler(size_t i, void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler};
	sigemptyset(&action.sa_mask);
	if (!changed[i])
		sigaction(caught[i], NULL, &before[i]);
	/* Under nohup, the end of the terminal session is ignored. (SIGINT is ignored, too, in a
	 * script's `&`; but a SIGINT that is sent to Sonde itself is meant to end it.) */
	if (caught[i] == SIGHUP && before[i].sa_handler == SIG_IGN)
		return;
	changed[i] = !sigaction(caught[i], &action, NULL);
}

void signals_install(int program)
{
	want_end = 0;
	program_pid = program;
	for (size_t i = 0; i < ARRAY_SIZE(caught); i++) {
		/* A reader of our messages that goes away must not end the recording. */
		if (caught[i] == SIGPIPE)
			set_handler(i, SIG_IGN);
		else if (program || caught[i] != SIGQUIT)
			set_handler(i, program ? pass_on : end_recording);
	}
}

bool signals_want_end(void)
{
	return want_end;
}

void signals_forget_program(void)
{
	program_pid = 0;
}

void signals_restore(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(caught); i++) {
		if (changed[i] && caught[i] != SIGPIPE)
			sigaction(caught[i], &before[i], NULL);
		changed[i] = changed[i] && caught[i] == SIGPIPE;
	}
}
