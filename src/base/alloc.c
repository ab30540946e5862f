#include "base/alloc.h"

#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

static void fail(size_t size)
{
	(void)size;
	abort();
}

void (*alloc_failed)(size_t size) = fail;

static void *checked(void *p, size_t size)
{
	if (!p) {
		alloc_failed(size);
		abort();
	}
	return p;
}

void *xmalloc(size_t size)
{
	return checked(malloc(size ? size : 1), size);
}

void *xcalloc(size_t count, size_t size)
{
	return checked(calloc(count ? count : 1, size ? size : 1), count * size);
}

void *xrealloc(void *p, size_t size)
{
	return checked(realloc(p, size ? size : 1), size);
}

void alloc_trim(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}
