/* A program to be observed while parts of Sonde fail or Sonde is killed: faults SECONDS, or
 * faults until-told [SLEEP], with children that sleep so many us, one after the other. It computes,
 * in two threads that share a lock, in a coroutine-like chain of calls and in children, and
 * compares each result with the first one. It prints `faults: 0 differ` and ends with status 3,
 * whatever happens to its observer. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OWN __attribute__((noipa))

static volatile sig_atomic_t enough;
static uint64_t expected;
static _Atomic unsigned differing;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t shared;
static useconds_t sleep_us;

static void end(int number)
{
	enough = number;
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

OWN static uint64_t stir(uint64_t x, int times)
{
	for (int i = 0; i < times; i++)
		x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9) + (uint64_t)i;
	return x;
}

OWN static uint64_t descend(uint64_t x, int depth)
{
	if (depth)
		x = descend(stir(x, 10), depth - 1) ^ x;
	return x;
}

OWN static uint64_t work(uint64_t x)
{
	for (int i = 0; i < 100; i++)
		x = descend(stir(x, 200), 5);
	return x;
}

OWN static void locked(void)
{
	pthread_mutex_lock(&lock);
	shared = stir(shared, 1000);
	pthread_mutex_unlock(&lock);
}

OWN static void compare(void)
{
	differing += work(7) != expected;
	locked();
}

static void *help(void *arg)
{
	while (!enough) {
		compare();
		usleep(200);
	}
	return arg;
}

OWN static void have_child(void)
{
	int status = 0;
	pid_t pid = fork();
	if (!pid) {
		usleep(sleep_us);
		_exit(work(7) != expected);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		differing++;
}

int main(int argc, char **argv)
{
	double until =
		argc > 1 && strcmp(argv[1], "until-told") != 0 ? now() + atof(argv[1]) : 1e18;
	pthread_t helper;
	sleep_us = argc > 2 ? (useconds_t)atoi(argv[2]) : 0;
	signal(SIGTERM, end);
	expected = work(7);
	if (until > 1e17)
		printf("begun\n");
	fflush(stdout);
	pthread_create(&helper, NULL, help, NULL);
	for (unsigned i = 0; !enough && now() < until; i++) {
		compare();
		if (i % 64 == 63 || sleep_us)
			have_child();
		usleep(500); /* what else is tested at the same time wants to run, too */
	}
	enough = 1;
	pthread_join(helper, NULL);
	printf("faults: %u differ\n", differing);
	return 3;
}
