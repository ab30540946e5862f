/* Programs whose loops take known shares: each tells by its own clock what its loops took.
 *
 * SPIN is the loop, one in each function, which gives it its name; the barrier keeps compilers
 * from computing the result without looping. */
#pragma once
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef uint64_t u64;

#define SEPARATE __attribute__((noinline, noclone))
#ifdef __clang__
#undef SEPARATE
#define SEPARATE __attribute__((noinline))
#endif
#define INLINED static inline __attribute__((always_inline))

#define SPIN(x, count)                                                                             \
	for (u64 i_ = 0; i_ < (count); i_++)                                                       \
	__asm__ volatile("" : "+r"(x))

static inline double thread_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline long thread_number(void)
{
	return syscall(SYS_gettid);
}

/* A line for the reader: the function that the loop stands in, the thread (0: all), a function
 * that the calls to it go through ("any": whichever), seconds. */
static inline void tell(const char *loop_in, long thread, const char *through, double seconds)
{
	printf("loop %s %ld %s %.6f\n", loop_in, thread, through, seconds);
}
