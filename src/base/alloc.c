#include "base/alloc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/fault.h"

static void fail(size_t size)
{
	(void)size;
	abort();
}

void (*alloc_failed)(size_t size) = fail;

/* What programs are large because of. */
enum { LARGE = 1 << 20 };

static bool refused(size_t size)
{
	return size >= LARGE && fault("allocate", ENOMEM);
}

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
	return checked(refused(size) ? NULL : malloc(size ? size : 1), size);
}

void *xcalloc(size_t count, size_t size)
{
	bool none = size && refused(count * size);
	return checked(none ? NULL : calloc(count ? count : 1, size ? size : 1), count * size);
}

void *xrealloc(void *p, size_t size)
{
	return checked(refused(size) ? NULL : realloc(p, size ? size : 1), size);
}

void alloc_trim(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}
