/* What programs with planted bottlenecks share. Each runs for as many seconds as its first argument
 * says, or until the file exists that $DIAGNOSE_STOP names, and does the same all the time, unless
 *it is about phases. It prints one line that does not depend on how long it ran, or under what: how
 *many units of work came out differently from the first. What it measured itself goes to the file
 *that $DIAGNOSE_TRUTH names, or behind that line:
 *
 *	truth HYPOTHESIS NAME SHARE [LEAST]
 *
 * where NAME is a function, a loop, or an object, and tests/live/diagnosing.py knows which. A loop
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

/* A function of its own, whatever the optimiser thinks of it. */
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

/* Adds what a statement takes, of this thread's CPU time or of the time that passes. */
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

/* Who started it knows by the file $DIAGNOSE_STOP.begun. */
static inline void tell_beginning(void)
{
	const char *stop = getenv("DIAGNOSE_STOP");
	char path[4096];
	if (!stop)
		return;
	snprintf(path, sizeof(path), "%s.begun", stop);
	FILE *f = fopen(path, "w");
	if (f)
		fclose(f);
}

static inline void begin(int argc, char **argv)
{
	if (argc > 1)
		wanted = atof(argv[1]);
	began = nanoseconds(CLOCK_MONOTONIC);
	deadline = began + (uint64_t)(wanted * 1e9);
	tell_beginning();
}

/* Whether less than a share of the run is over. */
static inline bool before(double share)
{
	return nanoseconds(CLOCK_MONOTONIC) < began + (uint64_t)(share * wanted * 1e9);
}

/* Looks for the file twenty times a second. */
static inline bool is_told_to_stop(uint64_t now)
{
	static uint64_t next;
	static const char *stop;
	if (now < __atomic_load_n(&next, __ATOMIC_RELAXED))
		return false;
	__atomic_store_n(&next, now + 50000000, __ATOMIC_RELAXED);
	if (!stop)
		stop = getenv("DIAGNOSE_STOP");
	return stop && !access(stop, F_OK);
}

static inline bool running(void)
{
	uint64_t now = nanoseconds(CLOCK_MONOTONIC);
	if (is_told_to_stop(now))
		__atomic_store_n(&deadline, 0, __ATOMIC_RELAXED);
	return now < __atomic_load_n(&deadline, __ATOMIC_RELAXED);
}

/* Until the file $DIAGNOSE_STOP.phase exists; without such a name, for half of the run. */
static inline bool in_first_phase(void)
{
	const char *stop = getenv("DIAGNOSE_STOP");
	char path[4096];
	snprintf(path, sizeof(path), "%s.phase", stop ? stop : "");
	if (stop)
		return running() && access(path, F_OK);
	return before(0.5);
}

static inline double elapsed(void)
{
	return (double)(nanoseconds(CLOCK_MONOTONIC) - began) / 1e9;
}

/* The kernel's time of this process, in ns. */
static inline uint64_t kernel_ns(void)
{
	struct rusage r;
	getrusage(RUSAGE_SELF, &r);
	return (uint64_t)r.ru_stime.tv_sec * 1000000000u + (uint64_t)r.ru_stime.tv_usec * 1000u;
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

/* What starts a program may take a while (MPI), and is a part of the run: since $DIAGNOSE_START, ns
 * of the clock; or since the beginning. */
static inline double run_seconds(void)
{
	const char *start = getenv("DIAGNOSE_START");
	return start ? ((double)nanoseconds(CLOCK_MONOTONIC) - atof(start)) / 1e9 : elapsed();
}

/* After finish(): `ns` of `base` seconds, or of the whole run's. */
static inline void tell(const char *hypothesis, const char *what, uint64_t ns, double base)
{
	double share = (double)ns / 1e9 / base;
	fprintf(truth_file, "truth %s %s %.3f %.3f\n", hypothesis, what, share,
		share * elapsed() / run_seconds());
	fflush(truth_file);
}

/* The same of CPU time. Time that passes while nobody computes is a part of the whole if the
 * program waits for itself, for threads that have to wake up, but not where others have the
 * CPUs: the share is between the two. */
static inline void tell_time_of(const char *hypothesis, const char *what, uint64_t ns, double used,
				double passed)
{
	double share = (double)ns / 1e9 / used;
	fprintf(truth_file, "truth %s %s %.3f %.3f\n", hypothesis, what, share,
		passed > used ? share * used / passed : share);
	fflush(truth_file);
}

static inline void tell_cpu_of(const char *what, uint64_t ns, double used, double passed)
{
	tell_time_of("cpu", what, ns, used, passed);
}

/* The same of the kernel's. */
static inline void tell_system(const char *what, uint64_t ns)
{
	double share = (double)ns / 1e9 / cpu_base();
	fprintf(truth_file, "truth system %s %.3f %.3f\n", what, share,
		(double)ns / 1e9 / run_seconds());
	fflush(truth_file);
}

static inline void tell_cpu(const char *what, uint64_t ns)
{
	tell_cpu_of(what, ns, cpu_base(), run_seconds());
}

static inline void tell_memory(const char *what, uint64_t ns)
{
	tell_time_of("memory", what, ns, cpu_base(), run_seconds());
}

/* What the busiest computes more than the average: of the time that the busiest ran, or of all that
 * passed, for the same reason. */
static inline void tell_imbalance(const char *what, uint64_t more, uint64_t busiest)
{
	fprintf(truth_file, "truth imbalance %s %.3f %.3f\n", what, (double)more / (double)busiest,
		(double)more / 1e9 / elapsed());
	fflush(truth_file);
}
