/* What programs with planted bottlenecks share. Each runs for as many seconds as its first argument
 * says and does the same all the time, unless it is about phases. It prints one line that does not
 * depend on how long it ran, or under what: how many units of work came out differently from the
 * first. What it measured itself goes to the file that $DIAGNOSE_TRUTH names, or behind that line:
 *
 *	truth HYPOTHESIS NAME SHARE [LEAST]
 *
 * where NAME is a procedure, a loop, or an object, and tests/live/diagnosing.py knows which. A loop
 * that has to be found has a comment "hot: NAME" in its first line. */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A procedure of its own, whatever the optimiser thinks of it. */
#ifdef __clang__
#define OWN __attribute__((noinline, optnone))
#else
#define OWN __attribute__((noipa))
#endif

/* Some two nanoseconds that no compiler does without. */
#define STIR(x) ((x) ^= (x) << 13, (x) ^= (x) >> 7, (x) ^= (x) << 17)

static inline uint64_t nanoseconds(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Adds what a statement takes, of this thread's processor time or of the time that passes. */
#define CPU_OF(total, statement)  ADD_TIME_OF(CLOCK_THREAD_CPUTIME_ID, total, statement)
#define TIME_OF(total, statement) ADD_TIME_OF(CLOCK_MONOTONIC, total, statement)
#define ADD_TIME_OF(clock, total, statement)                                                       \
	do {                                                                                       \
		uint64_t before_##clock = nanoseconds(clock);                                      \
		statement;                                                                         \
		__atomic_fetch_add(&(total), nanoseconds(clock) - before_##clock,                  \
				   __ATOMIC_RELAXED);                                              \
	} while (0)

static uint64_t began, deadline;
static double wanted = 6;

static inline void begin(int argc, char **argv)
{
	if (argc > 1)
		wanted = atof(argv[1]);
	began = nanoseconds(CLOCK_MONOTONIC);
	deadline = began + (uint64_t)(wanted * 1e9);
}

/* Whether less than a share of the run is over. */
static inline bool before(double share)
{
	return nanoseconds(CLOCK_MONOTONIC) < began + (uint64_t)(share * wanted * 1e9);
}

static inline bool running(void)
{
	return nanoseconds(CLOCK_MONOTONIC) < deadline;
}

static inline double elapsed(void)
{
	return (double)(nanoseconds(CLOCK_MONOTONIC) - began) / 1e9;
}

/* All of it. */
static inline double cpu_base(void)
{
	struct rusage r;
	getrusage(RUSAGE_CHILDREN, &r);
	return (double)nanoseconds(CLOCK_PROCESS_CPUTIME_ID) / 1e9 +
	       (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
	       (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

/* A unit of work comes out the same each time. */
static unsigned differing;

static inline void same(uint64_t *first, uint64_t value)
{
	uint64_t none = 0;
	if (!__atomic_compare_exchange_n(first, &none, value, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED) &&
	    none != value)
		__atomic_fetch_add(&differing, 1, __ATOMIC_RELAXED);
}

static inline void *shared_memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		abort();
	return p;
}

static inline pthread_t thread(const char *name, void *(*run)(void *), void *argument)
{
	pthread_t t;
	if (pthread_create(&t, NULL, run, argument))
		abort();
	pthread_setname_np(t, name);
	return t;
}

static FILE *truth_file;

static inline void finish(const char *name)
{
	const char *path = getenv("DIAGNOSE_TRUTH");
	printf("%s: %u differ\n", name, differing);
	fflush(stdout);
	truth_file = path ? fopen(path, "a") : stdout;
	if (!truth_file)
		abort();
}

/* After finish(): `ns` of `base` seconds. */
static inline void tell(const char *hypothesis, const char *what, uint64_t ns, double base)
{
	fprintf(truth_file, "truth %s %s %.3f\n", hypothesis, what, (double)ns / 1e9 / base);
	fflush(truth_file);
}

/* The same of processor time. Time that passes while nobody computes is a part of the whole if the
 * program waits for itself, for threads that have to wake up, but not where others have the
 * processors: the share is between the two. */
static inline void tell_cpu(const char *what, uint64_t ns)
{
	double used = cpu_base(), passed = elapsed();
	double share = (double)ns / 1e9 / used;
	fprintf(truth_file, "truth cpu %s %.3f %.3f\n", what, share,
		passed > used ? share * used / passed : share);
	fflush(truth_file);
}
