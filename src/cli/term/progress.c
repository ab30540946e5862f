#include "cli/term/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/term/terminal.h"

enum { DELAY_NS = 500000000, INTERVAL_NS = 100000000 };

void progress_show(struct progress *p, const char *fmt, ...)
{
	uint64_t now = now_ns();
	va_list ap;
	p->since = p->since ? p->since : now;
	if (now - p->since < DELAY_NS || now - p->shown < INTERVAL_NS || !isatty(STDERR_FILENO))
		return;
	p->shown = now;
	va_start(ap, fmt);
	fputs("\rsonde: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputs(TERMINAL_CLEAR_LINE, stderr);
	fflush(stderr);
	va_end(ap);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fputs("\r" TERMINAL_CLEAR_LINE, stderr);
	*p = (struct progress){0};
}
