/* Is loaded and unloaded by loading.c; it has truth.c of its own, and tells when it goes. */
#include "truth.h"

__attribute__((visibility("default"))) u64 library_work(u64 n);

KEEP __attribute__((visibility("hidden"))) u64 library_leaf(u64 x)
{
	CALLED(library_leaf);
	return x * 3 + 1;
}

u64 library_work(u64 n)
{
	LOOP(library);
	u64 x = 0;
	CALLED(library_work);
	ENTER(library);
	for (u64 i = 0; i < n; i++) {
		ITER(library);
		x += library_leaf(i);
	}
	LEAVE(library);
	return x;
}
