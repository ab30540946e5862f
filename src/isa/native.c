#include "isa/native.h"

#include <sys/auxv.h>
#include <time.h>

#if defined(__aarch64__)

uint64_t ticks_now(void)
{
	uint64_t v;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
}

double ticks_period_ns(void)
{
	uint64_t frequency;
	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
	return 1e9 / (double)frequency;
}

uint64_t own_thread_pointer(void)
{
	uint64_t v;
	__asm__("mrs %0, tpidr_el0" : "=r"(v));
	return v;
}

bool thread_pointer_is_readable(void)
{
	return true;
}

bool avx_is_usable(void)
{
	return false;
}

#elif defined(__x86_64__)

uint64_t ticks_now(void)
{
	uint32_t low, high;
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static uint64_t clock_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* Both clocks, read at the same moment as nearly as possible: the best of several readings is the
 * one with the least time between its two readings of the system's clock. */
struct clock_pair {
	uint64_t ns, ticks, uncertainty;
};

static struct clock_pair clock_pair_now(void)
{
	struct clock_pair best = {.uncertainty = UINT64_MAX};
	enum { READINGS = 8 };
	for (unsigned i = 0; i < READINGS; i++) {
		uint64_t before = clock_ns(), ticks = ticks_now(), after = clock_ns();
		if (after - before < best.uncertainty)
			best = (struct clock_pair){before + (after - before) / 2, ticks,
						   after - before};
	}
	return best;
}

enum { CALIBRATION_NS = 10000000 };

/* Not every CPU reports the frequency of its time stamp counter. So the counter is compared with
 * the system's clock, for CALIBRATION_NS at the first call. */
double ticks_period_ns(void)
{
	static double period;
	if (period == 0) {
		struct clock_pair begin = clock_pair_now();
		while (clock_ns() - begin.ns < CALIBRATION_NS)
			;
		struct clock_pair end = clock_pair_now();
		period = (double)(end.ns - begin.ns) / (double)(end.ticks - begin.ticks);
	}
	return period;
}

/* C libraries store the thread pointer at the address that it points to. */
uint64_t own_thread_pointer(void)
{
	uint64_t v;
	__asm__("mov %%fs:0, %0" : "=r"(v));
	return v;
}

bool thread_pointer_is_readable(void)
{
	enum { FSGSBASE = 1 << 1 }; /* asm/hwcap2.h: HWCAP2_FSGSBASE */
	return getauxval(AT_HWCAP2) & FSGSBASE;
}

bool avx_is_usable(void)
{
	return __builtin_cpu_supports("avx");
}

#else

uint64_t own_thread_pointer(void)
{
	return 0;
}

bool thread_pointer_is_readable(void)
{
	return false;
}

uint64_t ticks_now(void)
{
	return 0;
}

double ticks_period_ns(void)
{
	return 1;
}

#endif
