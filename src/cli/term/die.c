#include "cli/term/die.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"

/* This does not allocate, because memory may have run out. It escapes control characters: names
 * from binaries may contain anything, and a terminal must not interpret it. */
__attribute__((format(printf, 1, 0))) static void print_message(const char *fmt, va_list ap)
{
	char plain[1500], safe[4 * sizeof(plain) + 2];
	vsnprintf(plain, sizeof(plain), fmt, ap);
	size_t n = 0;
	for (const char *c = plain; *c; c++) {
		unsigned char byte = (unsigned char)*c;
		if (byte < 0x20 || byte == 0x7f)
			n += (size_t)sprintf(safe + n, "\\x%02x", byte);
		else
			safe[n++] = *c;
	}
	safe[n] = '\0';
	fprintf(stderr, "sonde: %s\n", safe);
}

void complain(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	print_message(fmt, ap);
	va_end(ap);
}

void die(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	print_message(fmt, ap);
	va_end(ap);
	exit(EXIT_OURS);
}

/* May run in any thread, with locks of stdio or of the allocator held. So it writes directly and
 * runs no exit handlers. */
static void out_of_memory(size_t size)
{
	char line[100];
	int n = snprintf(line, sizeof(line), "sonde: out of memory (%zu bytes more were needed)\n",
			 size);
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		_exit(EXIT_OURS);
	_exit(EXIT_OURS);
}

void die_on_alloc_failure(void)
{
	alloc_failed = out_of_memory;
}
