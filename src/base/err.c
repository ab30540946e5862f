#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	e->code = code;
	return code;
}

int err_errno(struct err *e, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(e->text))
		snprintf(e->text + n, sizeof(e->text) - (size_t)n, ": %s", strerror(saved));
	e->code = ERR_SYSTEM;
	return ERR_SYSTEM;
}

void err_prefix(struct err *e, const char *fmt, ...)
{
	char prefix[300], rest[sizeof(e->text)];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(prefix, sizeof(prefix), fmt, ap);
	va_end(ap);
	memcpy(rest, e->text, sizeof(rest));
	snprintf(e->text, sizeof(e->text), "%s: %.*s", prefix, (int)(sizeof(rest) - 1), rest);
}
