/* Messages to the user on stderr, and the end of the process. Exit statuses follow env(1) and
 * timeout(1), to distinguish the status of a program that Sonde runs from Sonde's own failures. */
#pragma once
#include "base/err.h"

enum {
	EXIT_OURS = 125,           /* Sonde itself failed: bad usage, bad input */
	EXIT_CANNOT_EXECUTE = 126, /* the program to run was found but cannot be executed */
	EXIT_NOT_FOUND = 127,      /* the program to run was not found */
};

/* Prints "sonde: " and the sentence on one line; control characters are printed as \xNN. */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Does the same, then calls exit(EXIT_OURS). */
_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Makes Sonde end with a message when it runs out of memory. */
void die_on_alloc_failure(void);
