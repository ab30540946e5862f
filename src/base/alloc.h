/* Heap allocation that does not return NULL: running out of memory is the one error nobody handles.
 * It is reported through one hook, so that only the command line prints and exits. */
#pragma once
#include <stddef.h>

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *p, size_t size);

/* Called with the number of bytes that could not be had; must not return. */
extern void (*alloc_failed)(size_t size);
