/* A growing string for fast output: writes decimal, hexadecimal and padding without printf. */
#pragma once
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	char *data; /* NUL-terminated once anything was added */
	size_t len, cap;
};

#define TEXT_INIT                                                                                  \
	{                                                                                          \
		0                                                                                  \
	}

void text_release(struct text *t);
void text_clear(struct text *t);
void text_add(struct text *t, const char *s);
void text_addn(struct text *t, const char *s, size_t n);
void text_char(struct text *t, char c);
void text_fill(struct text *t, char c, size_t n);
void text_u64(struct text *t, uint64_t v);
void text_hex(struct text *t, uint64_t v); /* with 0x */
void text_printf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(struct text *t, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

/* The number of edits (insertions, deletions, replacements, swaps of neighbours) that turn `a` into
 * `b`. */
unsigned text_distance(const char *a, const char *b);

/* The part of a path after its last slash. */
const char *base_name(const char *path);
