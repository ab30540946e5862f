#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* This must not allocate or use stdio streams: either may be what is broken. */
void bug_found(const char *invariant, const char *what, const char *file, int line)
{
	char text[400];
	const char *from_root = strstr(file, "src/");
	int n = snprintf(text, sizeof(text),
			 "sonde: this is a bug in sonde: invariant %s does not hold at %s:%d "
			 "(%.200s); the observed program continues; please report the bug\n",
			 invariant, from_root ? from_root : file, line, what);
	if (n > 0 && write(STDERR_FILENO, text, (size_t)n) < 0)
		abort();
	abort();
}
