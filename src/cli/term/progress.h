/* A progress line on stderr for operations that take long; it is removed at the end. Shown only on
 * a terminal: in a log it would be noise. */
#pragma once
#include <stdint.h>

/* All-zero before the first use. */
struct progress {
	uint64_t since; /* ns: the first call of progress_show() */
	uint64_t shown; /* ns: when the line was last written; 0: never */
};

/* Writes the line, but not before half a second after the first call, and at most ten times per
 * second. */
void progress_show(struct progress *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Removes the line and resets `p`. */
void progress_end(struct progress *p);
