/* Errors are negative return codes with a sentence for the user. A function that can fail returns 0
 * or a negative code and takes `struct err *e` last; *e is untouched on success. The sentence says
 * what is wrong and, where it can, what to do; the caller may put its own context in front of it.
 */
#pragma once
#include <stddef.h>

enum err_code {
	ERR_SYSTEM = -1,      /* the system said no: missing file, permission, ... */
	ERR_INPUT = -2,       /* the input is not usable */
	ERR_UNSUPPORTED = -3, /* valid, but not supported by Sonde or on this machine */
	ERR_CONFINED = -4,    /* the program is not permitted to make the system calls needed */
	ERR_ENDED = -5,       /* the program has ended in the meantime */
};

struct err {
	int code;
	char text[600];
};

/* Sets the sentence and returns `code`. */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The same, followed by ": " and the text of errno; the code is ERR_SYSTEM. */
int err_errno(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Puts a prefix in front of the sentence: "PREFIX: sentence". */
void err_prefix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
