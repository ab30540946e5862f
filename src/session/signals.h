/* Signals while recording.
 *
 * Observing a running process ends with SIGINT, SIGTERM or SIGHUP. A program that we started gets
 * its SIGINT, SIGQUIT and SIGHUP from the terminal as we do, and decides what they mean; SIGTERM,
 * which is sent to us alone, is passed on to it.
 *
 * SIGHUP stays ignored if it was when we were started: that is what nohup is for. */
#pragma once
#include <stdbool.h>

/* `program` is the process to pass SIGTERM on to, or 0: signals end the recording. */
void signals_install(int program);
/* Whether a signal has asked to end the recording. */
bool signals_want_end(void);
/* The program is gone: from now on, SIGTERM ends the recording. */
void signals_forget_program(void);
/* Restores what signals did before, except SIGPIPE. */
void signals_restore(void);
