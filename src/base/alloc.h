/* Heap allocation that does not return NULL: running out of memory is the one error nobody handles.
 * It is reported through one hook, so that only the command line prints and exits. */
#pragma once
#include <stddef.h>

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *p, size_t size);

/* Gives what is free back to the system, as far as the C library can: before something else needs
 * much. */
void alloc_trim(void);

/* Called with the number of bytes that could not be had; must not return. */
extern void (*alloc_failed)(size_t size);
