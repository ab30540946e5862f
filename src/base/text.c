#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void text_release(struct text *t)
{
	free(t->data);
	*t = (struct text)TEXT_INIT;
}

void text_clear(struct text *t)
{
	t->len = 0;
	if (t->data)
		t->data[0] = '\0';
}

static char *room(struct text *t, size_t n)
{
	if (t->len + n + 1 > t->cap) {
		t->cap = t->cap * 2 > t->len + n + 1 ? t->cap * 2 : t->len + n + 64;
		t->data = xrealloc(t->data, t->cap);
	}
	return t->data + t->len;
}

void text_addn(struct text *t, const char *s, size_t n)
{
	char *at = room(t, n);
	memcpy(at, s, n);
	at[n] = '\0';
	t->len += n;
}

void text_add(struct text *t, const char *s)
{
	text_addn(t, s, strlen(s));
}

void text_char(struct text *t, char c)
{
	text_addn(t, &c, 1);
}

void text_fill(struct text *t, char c, size_t n)
{
	char *at = room(t, n);
	memset(at, c, n);
	at[n] = '\0';
	t->len += n;
}

void text_u64(struct text *t, uint64_t v)
{
	char digits[20];
	size_t n = sizeof(digits);
	do
		digits[--n] = (char)('0' + v % 10);
	while (v /= 10);
	text_addn(t, digits + n, sizeof(digits) - n);
}

void text_hex(struct text *t, uint64_t v)
{
	char digits[18];
	size_t n = sizeof(digits);
	do
		digits[--n] = "0123456789abcdef"[v & 15];
	while (v >>= 4);
	digits[--n] = 'x';
	digits[--n] = '0';
	text_addn(t, digits + n, sizeof(digits) - n);
}

void text_vprintf(struct text *t, const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	char none[1];
	int n = vsnprintf(none, sizeof(none), fmt, ap);
	if (n > 0) {
		vsnprintf(room(t, (size_t)n), (size_t)n + 1, fmt, again);
		t->len += (size_t)n;
	}
	va_end(again);
}

void text_printf(struct text *t, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	text_vprintf(t, fmt, ap);
	va_end(ap);
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;
	return m < c ? m : c;
}

unsigned text_distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), width = m + 1;
	unsigned *d = xcalloc((n + 1) * width, sizeof(*d));
	for (size_t i = 0; i <= n; i++)
		d[i * width] = (unsigned)i;
	for (size_t j = 0; j <= m; j++)
		d[j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		for (size_t j = 1; j <= m; j++) {
			unsigned *at = &d[i * width + j];
			*at = min3(at[-1] + 1, at[-(ptrdiff_t)width] + 1,
				   at[-(ptrdiff_t)width - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
				unsigned swapped = at[-2 * (ptrdiff_t)width - 2] + 1;
				*at = swapped < *at ? swapped : *at;
			}
		}
	}
	unsigned result = d[n * width + m];
	free(d);
	return result;
}

const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}
