#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Chunks double in size, so that an arena that is cleared and refilled soon needs only one. */
enum { FIRST_CHUNK = 16 * 1024, LARGEST_CHUNK = 1024 * 1024 };

struct arena_chunk {
	struct arena_chunk *next;
	size_t size;
	max_align_t data[];
};

void arena_init(struct arena *a)
{
	*a = (struct arena){0};
}

static void use_chunk(struct arena *a, struct arena_chunk *c)
{
	a->at = (char *)c->data;
	a->end = a->at + c->size;
}

void arena_clear(struct arena *a)
{
	struct arena_chunk *keep = a->chunks;
	if (!keep)
		return;
	while (keep->next) {
		struct arena_chunk *next = keep->next;
		keep->next = next->next;
		free(next);
	}
	use_chunk(a, keep);
}

void arena_release(struct arena *a)
{
	arena_clear(a);
	free(a->chunks);
	arena_init(a);
}

void *arena_alloc(struct arena *a, size_t size, size_t align)
{
	uintptr_t at = ((uintptr_t)a->at + align - 1) & ~(uintptr_t)(align - 1);
	if (!a->at || at + size > (uintptr_t)a->end || at + size < at) {
		size_t want = a->chunks ? a->chunks->size * 2 : FIRST_CHUNK;
		want = want > LARGEST_CHUNK ? LARGEST_CHUNK : want;
		want = size + align > want ? size + align : want;
		struct arena_chunk *c = xmalloc(sizeof(*c) + want);
		c->size = want;
		c->next = a->chunks;
		a->chunks = c;
		use_chunk(a, c);
		at = ((uintptr_t)a->at + align - 1) & ~(uintptr_t)(align - 1);
	}
	a->at = (char *)(at + size);
	return (void *)at;
}

void *arena_zalloc(struct arena *a, size_t size, size_t align)
{
	return memset(arena_alloc(a, size, align), 0, size);
}

void *arena_memdup(struct arena *a, const void *p, size_t size, size_t align)
{
	void *out = arena_alloc(a, size, align);
	if (size)
		memcpy(out, p, size);
	return out;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	n = strnlen(s, n);
	char *out = arena_alloc(a, n + 1, 1);
	memcpy(out, s, n);
	out[n] = '\0';
	return out;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_memdup(a, s, strlen(s) + 1, 1);
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char none[1];
	int n = vsnprintf(none, sizeof(none), fmt, ap);
	va_end(ap);
	char *out = arena_alloc(a, (size_t)n + 1, 1);
	va_start(ap, fmt);
	vsnprintf(out, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return out;
}
