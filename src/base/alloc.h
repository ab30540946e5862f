/* Heap allocation that never returns NULL: no caller handles running out of memory. It is reported
 * through one hook, so that only the command line prints and exits. */
#pragma once
#include <stddef.h>

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *p, size_t size);

/* Returns free heap memory to the system, as far as the C library can. Call it before something
 * that needs much memory. */
void alloc_trim(void);

/* Called with the size of the allocation that failed; must not return. */
extern void (*alloc_failed)(size_t size);
