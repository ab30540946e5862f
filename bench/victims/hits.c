/* Calls a tiny function in a tight loop, ten calls deep, and another one of the same code that
 * nobody probes as often. Each line on standard input, "narrow|wide CALLS ROUNDS", is answered by
 * the least ns of a call of each. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define TINY __attribute__((noinline, noclone, no_icf, aligned(64))) static uint64_t

static volatile uint64_t seed = 88172645463325252;

/* Works in its argument's register alone, and leaves a probe no other that it may change. */
#define NARROW                                                                                     \
	{                                                                                          \
		x ^= x << 13;                                                                      \
		x ^= x >> 7;                                                                       \
		return x ^ x << 17;                                                                \
	}
/* Overwrites some, as most functions do. */
#define WIDE                                                                                       \
	{                                                                                          \
		uint64_t a = x * 0xbf58476d1ce4e5b9, b = (x >> 29) * 0x94d049bb133111eb;           \
		return a ^ b ^ x >> 7;                                                             \
	}
TINY narrow(uint64_t x) NARROW TINY narrow_reference(uint64_t x) NARROW TINY
	wide(uint64_t x) WIDE TINY wide_reference(uint64_t x) WIDE

	struct order {
	char which[16];
	uint64_t calls, rounds;
	double measured, reference; /* the least so far; 0: none */
};

static double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void keep_least(double *least, double ns)
{
	if (*least <= 0 || ns < *least)
		*least = ns;
}

#define CALLER(function, least)                                                                   \
	__attribute__((noinline, aligned(64))) static void call_##function(struct order *o)       \
	{                                                                                          \
		uint64_t x = seed;                                                                 \
		double begin = now_ns();                                                           \
		for (uint64_t i = 0; i < o->calls; i++)                                            \
			x = function(x);                                                          \
		keep_least(&o->least, (now_ns() - begin) / (double)o->calls);                      \
		seed = x;                                                                          \
	}
CALLER(narrow, measured)
CALLER(narrow_reference, reference)
CALLER(wide, measured)
CALLER(wide_reference, reference)

#define LEVEL(name, below)                                                                         \
	__attribute__((noinline)) static void name(struct order *o)                                \
	{                                                                                          \
		below(o);                                                                          \
		__asm__ volatile("" ::: "memory"); /* not a tail call */                           \
	}

__attribute__((noinline)) static void level8(struct order *o)
{
	for (uint64_t i = 0; i < o->rounds; i++) {
		if (!strcmp(o->which, "wide")) {
			call_wide(o);
			call_wide_reference(o);
		} else {
			call_narrow(o);
			call_narrow_reference(o);
		}
	}
}
LEVEL(level7, level8)
LEVEL(level6, level7)
LEVEL(level5, level6)
LEVEL(level4, level5)
LEVEL(level3, level4)
LEVEL(level2, level3)
LEVEL(level1, level2)

int main(void)
{
	char line[128];
	while (fgets(line, sizeof(line), stdin)) {
		struct order o = {0};
		if (sscanf(line, "%15s %lu %lu", o.which, &o.calls, &o.rounds) != 3)
			return 1;
		level1(&o);
		printf("%.4f %.4f\n", o.measured, o.reference);
		fflush(stdout);
	}
	return 0;
}
