#include "base/alloc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/fault.h"

static void abort_at_once(size_t size)
{
	(void)size;
	abort();
}

void (*alloc_failed)(size_t size) = abort_at_once;

/* Only allocations of at least this size are fault points: they are what makes a process run out of
 * memory. */
enum { MIN_FAULT_SIZE = 1 << 20 };

static bool fails_by_fault(size_t size)
{
	return size >= MIN_FAULT_SIZE && fault("allocate", ENOMEM);
}

static void *abort_if_null(void *p, size_t size)
{
	if (!p) {
		alloc_failed(size);
		abort();
	}
	return p;
}

void *xmalloc(size_t size)
{
	return abort_if_null(fails_by_fault(size) ? NULL : malloc(size ? size : 1), size);
}

void *xcalloc(size_t count, size_t size)
{
	bool none = size && fails_by_fault(count * size);
	return abort_if_null(none ? NULL : calloc(count ? count : 1, size ? size : 1),
			     count * size);
}

void *xrealloc(void *p, size_t size)
{
	return abort_if_null(fails_by_fault(size) ? NULL : realloc(p, size ? size : 1), size);
}

void alloc_trim(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}
