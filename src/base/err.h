/* Errors are negative return codes with a sentence for the user. A function that can fail returns 0
 * or a negative code and takes `struct err *e` last; *e is untouched on success. The sentence says
 * what is wrong and, where it can, what to do; the caller may put its own context in front of it.
 */
#pragma once
#include <stddef.h>

enum err_code {
	ERR_SYSTEM = -1,      /* the system said no: missing file, permission, ... */
	ERR_INPUT = -2,       /* what we were given is not usable */
	ERR_UNSUPPORTED = -3, /* usable, but not by us or not here */
	ERR_CONFINED = -4,    /* the program may not make the system calls that it takes */
	ERR_ENDED = -5,       /* the program has ended meanwhile */
};

struct err {
	int code;
	char text[600];
};

/* Sets the sentence and returns `code`. */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The same, with ": " and the text of errno behind it; code is ERR_SYSTEM. */
int err_errno(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Puts a prefix in front of the sentence: "PREFIX: sentence". */
void err_prefix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
