/* Is loaded and unloaded by loading.c. */
#include "victim.h"

u64 library_work(u64 n);

__attribute__((noinline)) static u64 library_leaf(u64 x)
{
	return mix(x);
}

u64 library_work(u64 n)
{
	u64 x = 0;
	do {
		x += library_leaf(n);
		BARRIER();
	} while (--n);
	return x;
}
