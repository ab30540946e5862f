/* One line on stderr that tells how far something is that takes long, and goes when it is over.
 * Only on a terminal: elsewhere it would be noise. */
#pragma once
#include <stdint.h>

/* All-zero before the first use. */
struct progress {
	uint64_t since,
		shown; /* ns: when it was first told of; when the line was last written, or 0 */
};

/* Shows how far it is, from half a second after the first time on. */
void progress_show(struct progress *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Takes the line away; p is as before the first use. */
void progress_end(struct progress *p);
