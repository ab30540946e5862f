/* Does the same work again and again, and tells when: each line is the time by the wall, the thread's
 * CPU time and how many rounds are done. The work is in small functions some calls deep, half
 * of it in one that a search finds and goes on watching.
 *
 *   rounds SECONDS */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define OWN __attribute__((noinline, noclone))

static volatile uint64_t sink;

static double now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

OWN static uint64_t stir(uint64_t x, int n)
{
	for (int i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

OWN static uint64_t cell(uint64_t x)
{
	return stir(x, 300) + 1;
}

OWN static uint64_t row(uint64_t x)
{
	for (int i = 0; i < 40; i++)
		x = cell(x);
	return x;
}

OWN static uint64_t other(uint64_t x)
{
	for (int i = 0; i < 30; i++)
		x ^= stir(x + (uint64_t)i, 400);
	return x;
}

OWN static uint64_t step(uint64_t x)
{
	return row(x) ^ other(x);
}

OWN static uint64_t solve(uint64_t x)
{
	for (int i = 0; i < 20; i++)
		x = step(x) + 3;
	return x;
}

int main(int argc, char **argv)
{
	double end = now(CLOCK_MONOTONIC) + (argc > 1 ? atof(argv[1]) : 5), told = 0;
	for (unsigned long rounds = 0; now(CLOCK_MONOTONIC) < end; rounds++) {
		sink = solve(sink | 1);
		if (now(CLOCK_MONOTONIC) - told < 0.1)
			continue;
		told = now(CLOCK_MONOTONIC);
		printf("%.6f %.6f %lu\n", told, now(CLOCK_THREAD_CPUTIME_ID), rounds);
		fflush(stdout);
	}
	return 0;
}
