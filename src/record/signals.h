/* Signals while recording.
 *
 * Observing a running process ends with SIGINT, SIGTERM or SIGHUP. A program that we started gets
 * its SIGINT, SIGQUIT and SIGHUP from the terminal as we do, and decides what they mean; SIGTERM,
 * which is sent to us alone, is passed on to it. */
#pragma once
#include <stdbool.h>

/* `program` is the process to pass SIGTERM on to, or 0: signals end the recording. */
void signals_install(int program);
/* Whether a signal has asked for the end. */
bool signals_want_end(void);
/* The program is gone: SIGTERM has nobody to go to. */
void signals_forget_program(void);
/* Signals end us from now on as if we had never been here. */
void signals_restore(void);
