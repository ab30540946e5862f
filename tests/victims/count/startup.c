/* Code before main and behind it. */
#include <stdlib.h>

#include "truth.h"

static u64 early;

KEEP u64 startup_work(u64 n)
{
	LOOP(startup);
	u64 x = n;
	CALLED(startup_work);
	ENTER(startup);
	for (u64 i = 0; i < n; i++) {
		ITER(startup);
		x = x * 3 + i;
		BARRIER();
	}
	LEAVE(startup);
	return x;
}

__attribute__((constructor)) KEEP void startup_constructor(void)
{
	CALLED(startup_constructor);
	early = startup_work(13);
}

KEEP void startup_at_exit(void)
{
	CALLED(startup_at_exit);
	early ^= startup_work(5);
}

__attribute__((destructor)) KEEP void startup_destructor(void)
{
	CALLED(startup_destructor);
	early ^= startup_work(3);
}

u64 victim_startup(void)
{
	atexit(startup_at_exit);
	atexit(startup_at_exit);
	return early;
}
