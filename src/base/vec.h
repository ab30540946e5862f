/* Growing arrays. `VEC(T)` is an anonymous struct type; all-zero is a valid empty vector,
 * vec_free() makes it empty again. Indices are 32 bits throughout Sonde. */
#pragma once
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define VEC(T)                                                                                     \
	struct {                                                                                   \
		T *data;                                                                           \
		uint32_t len, cap;                                                                 \
	}

#define vec_reserve(v, n)                                                                          \
	do {                                                                                       \
		if ((n) > (v)->cap) {                                                              \
			(v)->cap = (v)->cap * 2 > (n) ? (v)->cap * 2 : (n) < 8 ? 8 : (n);          \
			(v)->data = xrealloc((v)->data, (v)->cap * sizeof(*(v)->data));            \
		}                                                                                  \
	} while (0)

#define vec_push(v, ...)                                                                           \
	do {                                                                                       \
		vec_reserve(v, (v)->len + 1);                                                      \
		(v)->data[(v)->len++] = (__VA_ARGS__);                                             \
	} while (0)

/* Appends `n` elements of an array that is not the vector's own. */
#define vec_append(v, from, n)                                                                     \
	do {                                                                                       \
		vec_reserve(v, (v)->len + (n));                                                    \
		if (n)                                                                             \
			memcpy((v)->data + (v)->len, from, (n) * sizeof(*(v)->data));              \
		(v)->len += (n);                                                                   \
	} while (0)

/* Sets the length to `n`; new elements are all zero. */
#define vec_resize(v, n)                                                                           \
	do {                                                                                       \
		vec_reserve(v, n);                                                                 \
		if ((n) > (v)->len)                                                                \
			memset((v)->data + (v)->len, 0, ((n) - (v)->len) * sizeof(*(v)->data));    \
		(v)->len = (n);                                                                    \
	} while (0)

#define vec_copy(to, from)                                                                         \
	do {                                                                                       \
		vec_clear(to);                                                                     \
		vec_append(to, (from)->data, (from)->len);                                         \
	} while (0)

/* Keeps the elements for which the condition on `p`, which points at each in turn, is true. */
#define vec_keep_if(v, p, condition)                                                               \
	do {                                                                                       \
		uint32_t vec_kept = 0;                                                             \
		vec_each (p, v)                                                                    \
			if (condition)                                                             \
				(v)->data[vec_kept++] = *p;                                        \
		(v)->len = vec_kept;                                                               \
	} while (0)

/* Removes element i; those after it move up. */
#define vec_remove(v, i)                                                                           \
	do {                                                                                       \
		(v)->len--;                                                                        \
		memmove((v)->data + (i), (v)->data + (i) + 1,                                      \
			((v)->len - (i)) * sizeof(*(v)->data));                                    \
	} while (0)

#define vec_pop(v)   ((v)->data[--(v)->len])
#define vec_last(v)  ((v)->data[(v)->len - 1])
#define vec_clear(v) ((v)->len = 0)

#define vec_free(v)                                                                                \
	do {                                                                                       \
		free((v)->data);                                                                   \
		(v)->data = NULL;                                                                  \
		(v)->len = (v)->cap = 0;                                                           \
	} while (0)

/* Frees the unused capacity of a vector that will not grow any more. */
#define vec_trim(v)                                                                                \
	do {                                                                                       \
		if ((v)->len && (v)->len < (v)->cap) {                                             \
			(v)->cap = (v)->len;                                                       \
			(v)->data = xrealloc((v)->data, (v)->cap * sizeof(*(v)->data));            \
		}                                                                                  \
	} while (0)

/* Runs the body with `p` pointing at each element in turn. */
#define vec_each(p, v)                                                                             \
	for (__typeof__((v)->data + 0) p = (v)->data, p##_end = p ? p + (v)->len : p; p < p##_end; \
	     p++)

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
