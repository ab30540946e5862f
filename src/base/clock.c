#include "base/clock.h"

#include <time.h>

uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

double now_seconds(void)
{
	return 1e-9 * (double)now_ns();
}
