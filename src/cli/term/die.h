/* Words to the user on stderr, and the end of the process. Exit statuses follow env(1) and
 * timeout(1), so that the status of a program that Sonde runs stays distinguishable from Sonde's
 * own failures. */
#pragma once
#include "base/err.h"

enum {
	EXIT_OURS = 125,           /* Sonde itself failed: bad usage, bad input */
	EXIT_CANNOT_EXECUTE = 126, /* a program to run was found but not runnable */
	EXIT_NOT_FOUND = 127,      /* a program to run was not found */
};

/* "sonde: " and the sentence, on one line; control characters come out as \xNN. */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same, then exit(EXIT_OURS). */
_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Makes running out of memory end in a sentence. */
void die_on_alloc_failure(void);
