/* Loads and unloads a library that lies beside the program (PROBE_LIBRARY), and calls into it. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "victim.h"

KEEP u64 load_once(const char *path, u64 n)
{
	CALLED("load_once");
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		abort();
	u64 (*work)(u64) = (u64(*)(u64))dlsym(library, "library_work");
	u64 x = work(n);
	dlclose(library);
	LEFT("load_once");
	return x;
}

u64 victim_loading(void)
{
	const char *path = getenv("PROBE_LIBRARY");
	u64 sum = 0;
	for (u64 i = 1; path && i < 30; i++)
		sum = sum * 31 + load_once(path, i);
	return sum;
}
