/* Loads a library (COUNT_LIBRARY) again and again, and calls into it. */
#include <dlfcn.h>
#include <stdlib.h>

#include "truth.h"

KEEP u64 load_once(const char *path, u64 n)
{
	LOOP(loaded);
	u64 x = 0;
	CALLED(load_once);
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		abort();
	u64 (*work)(u64) = (u64(*)(u64))dlsym(library, "library_work");
	ENTER(loaded);
	for (u64 i = 0; i < n; i++) {
		ITER(loaded);
		x = x * 3 + work(i);
	}
	LEAVE(loaded);
	dlclose(library);
	return x;
}

u64 victim_loading(void)
{
	const char *path = getenv("COUNT_LIBRARY");
	u64 sum = 0;
	for (u64 i = 1; path && i < 6; i++)
		sum = sum * 31 + load_once(path, i);
	return sum;
}
