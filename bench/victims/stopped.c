/* Threads that run through a hundred functions, and one that looks at the clock all the time:
 *
 *	stopped THREADS BUSY
 *
 * Each line on standard input is a number of ms; the answer is the longest time in ns that the
 * watching thread, which runs through the functions as well, did not come to look meanwhile. The
 * others are busy for that percentage of the time. */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FUNCTION __attribute__((noinline, noclone)) static

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

FUNCTION uint64_t mix(uint64_t x, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9 + i;
	return x;
}

#define STEP(n)                                                                                    \
	FUNCTION uint64_t step##n(uint64_t x)                                                     \
	{                                                                                          \
		uint64_t y = mix(x, 5 + n % 7);                                                    \
		if (y & 1 << n % 5)                                                                \
			y = mix(y, 3) + x;                                                         \
		return y ^ x;                                                                      \
	}
#define TEN(what, t)                                                                               \
	what(t##0) what(t##1) what(t##2) what(t##3) what(t##4) what(t##5) what(t##6) what(t##7)    \
		what(t##8) what(t##9)
#define HUNDRED(what)                                                                              \
	TEN(what, 1)                                                                               \
	TEN(what, 2)                                                                               \
	TEN(what, 3)                                                                               \
	TEN(what, 4)                                                                               \
	TEN(what, 5)                                                                               \
	TEN(what, 6) TEN(what, 7) TEN(what, 8) TEN(what, 9) TEN(what, 10)

HUNDRED(STEP)

#define REFER(n) step##n,
static uint64_t (*const steps[])(uint64_t) = {HUNDRED(REFER)};
enum { STEPS = sizeof(steps) / sizeof(*steps), BUSY_NS = 200000 };

static uint64_t pause_ns;

static void *work(void *sink)
{
	uint64_t x = 1;
	for (;;) {
		uint64_t end = now_ns() + BUSY_NS;
		for (unsigned i = 0; i % 16 || now_ns() < end; i++)
			*(volatile uint64_t *)sink = x = steps[i % STEPS](x);
		if (pause_ns)
			nanosleep(&(struct timespec){.tv_nsec = (long)pause_ns}, NULL);
	}
	return NULL;
}

static uint64_t watch(uint64_t ms)
{
	uint64_t x = 1, longest = 0, before = now_ns(), end = before + ms * 1000000;
	for (unsigned i = 0; before < end; i = (i + 1) % STEPS) {
		x = steps[i](x);
		uint64_t now = now_ns();
		longest = now - before > longest ? now - before : longest;
		before = now;
	}
	return longest + (x == 0);
}

int main(int argc, char **argv)
{
	static uint64_t sink[64 * 8];
	char line[64];
	if (argc < 3)
		return 2;
	int threads = atoi(argv[1]), busy = atoi(argv[2]);
	pause_ns = (uint64_t)(100 - busy) * BUSY_NS / (uint64_t)busy;
	for (int i = 1; i < threads && i < 64; i++) {
		pthread_t t;
		if (pthread_create(&t, NULL, work, &sink[i * 8]))
			return 1;
	}
	/* What else wants the CPUs is no pause. */
	struct sched_param high = {.sched_priority = 1};
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &high);
	while (fgets(line, sizeof(line), stdin)) {
		printf("%lu\n", watch(strtoul(line, NULL, 10)));
		fflush(stdout);
	}
	return 0;
}
