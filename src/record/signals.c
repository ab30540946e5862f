#include "record/signals.h"

#include <signal.h>
#include <stddef.h>

#include "base/vec.h"

static const int caught[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

static volatile sig_atomic_t want_end;
static volatile sig_atomic_t program_pid;

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

/* Without SA_RESTART: whatever waits for samples returns. */
void signals_install(int program)
{
	struct sigaction action = {.sa_handler = program ? pass_on : end_recording};
	want_end = 0;
	program_pid = program;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < ARRAY_SIZE(caught); i++)
		if (program || caught[i] != SIGQUIT)
			sigaction(caught[i], &action, NULL);
	/* A reader of our messages that goes away must not end the recording. */
	action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, NULL);
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
	struct sigaction action = {.sa_handler = SIG_DFL};
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < ARRAY_SIZE(caught); i++)
		sigaction(caught[i], &action, NULL);
}
