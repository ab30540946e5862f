/* Memory by lifetime: everything allocated from an arena is freed at once.
 *
 * A parameter named `tmp` is a scratch arena: the callee leaves nothing in it that the caller
 * needs. arena_clear() keeps the newest chunk, so a scratch arena reused in a loop stops calling
 * malloc. */
#pragma once
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct arena {
	struct arena_chunk *chunks; /* newest first */
	char *at, *end;
};

void arena_init(struct arena *a);
void arena_clear(struct arena *a);
void arena_release(struct arena *a);

void *arena_alloc(struct arena *a, size_t size, size_t align);
void *arena_zalloc(struct arena *a, size_t size, size_t align);
void *arena_memdup(struct arena *a, const void *p, size_t size, size_t align);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define ARENA_NEW(a, T)      ((T *)arena_zalloc(a, sizeof(T), _Alignof(T)))
#define ARENA_ARRAY(a, T, n) ((T *)arena_zalloc(a, sizeof(T) * (size_t)(n), _Alignof(T)))
#define ARENA_DUP(a, p, n)   arena_memdup(a, p, sizeof(*(p)) * (size_t)(n), _Alignof(max_align_t))
