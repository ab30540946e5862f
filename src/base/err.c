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
	char prefix[300];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(prefix, sizeof(prefix) - 2, fmt, ap);
	va_end(ap);
	strcat(prefix, ": ");
	size_t shift = strlen(prefix), keep = strlen(e->text);
	if (keep > sizeof(e->text) - 1 - shift)
		keep = sizeof(e->text) - 1 - shift;
	memmove(e->text + shift, e->text, keep);
	memcpy(e->text, prefix, shift);
	e->text[shift + keep] = '\0';
}
