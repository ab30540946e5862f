/* Runs until its standard input ends, and does the same all the time: what is counted of it
 * meanwhile must be in fixed ratios, whenever counting begins and ends. Each round is checked, and
 * at its end it tells how many were wrong.
 *
 *	running THREADS    each with all the work; another one sleeps deep in recursion, one waits
 *	                   in a read
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { DEEP = 3000, THREADS_MAX = 16 };

#define KEEP __attribute__((noinline, noclone))

static atomic_bool over;
static atomic_ulong rounds, wrong;

KEEP uint64_t leaf(uint64_t x)
{
	return x * 3 + 1;
}

/* No call in it: 7 iterations. */
KEEP uint64_t seven(uint64_t x)
{
	for (volatile int i = 0; i < 7; i++)
		x = (x << 5) ^ (x >> 3);
	return x;
}

/* 5 calls of a leaf. */
KEEP uint64_t parent(uint64_t x)
{
	for (int i = 0; i < 5; i++) {
		x = leaf(x);
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

/* 4 times 6. */
KEEP uint64_t nest(uint64_t x)
{
	for (volatile int i = 0; i < 4; i++)
		for (volatile int k = 0; k < 6; k++)
			x += (uint64_t)i ^ x;
	return x;
}

KEEP uint64_t choose(uint64_t x, int which)
{
	switch (which) {
	case 0: return x + 11;
	case 1: return x ^ 77;
	case 2: return x * 5;
	case 3: return x - 3;
	case 4: return ~x;
	case 5: return x >> 1;
	default: return x << 1;
	}
}

/* 8 calls of choose(). */
KEEP uint64_t choices(uint64_t x)
{
	for (int i = 0; i < 8; i++)
		x += choose(x, i);
	return x;
}

/* 10 calls of itself and the first. */
KEEP uint64_t recurse(uint64_t x, int depth)
{
	if (!depth)
		return x;
	return recurse(x ^ (uint64_t)depth, depth - 1) + 1;
}

static _Thread_local jmp_buf out;

KEEP void jump(uint64_t x)
{
	if (x)
		longjmp(out, 1);
}

KEEP int jumps(void)
{
	if (setjmp(out))
		return 1;
	jump(1);
	return 0;
}

KEEP uint64_t turn(uint64_t seed)
{
	uint64_t x = parent(seed);
	x = seven(x);
	x += nest(x);
	x ^= choices(x);
	x += recurse(x, 10);
	return x + (uint64_t)jumps();
}

/* Nothing but a loop without calls, and without an end of its own. */
KEEP uint64_t spin(void)
{
	uint64_t x = 1;
	for (uint64_t i = 0; !atomic_load_explicit(&over, memory_order_relaxed); i++)
		x = x * 5 + i;
	return x;
}

KEEP void work(void)
{
	uint64_t expected = turn(42);
	while (!atomic_load_explicit(&over, memory_order_relaxed)) {
		if (turn(42) != expected)
			atomic_fetch_add(&wrong, 1);
		atomic_fetch_add(&rounds, 1);
	}
}

static void *worker(void *ignored)
{
	(void)ignored;
	work();
	return NULL;
}

KEEP int sleep_deep(int depth)
{
	if (depth)
		return sleep_deep(depth - 1) + 1;
	while (!atomic_load(&over))
		usleep(20000);
	return 0;
}

static void *sleeper(void *ignored)
{
	(void)ignored;
	if (sleep_deep(DEEP) != DEEP)
		atomic_fetch_add(&wrong, 1);
	return NULL;
}

static void *spinner(void *ignored)
{
	(void)ignored;
	return (void *)(uintptr_t)spin();
}

KEEP void wait_for_end(void)
{
	char c;
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	atomic_store(&over, true);
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX + 2];
	int count = argc > 1 ? atoi(argv[1]) : 1, made = 0;
	for (; made < count && made < THREADS_MAX; made++)
		pthread_create(&threads[made], NULL, worker, NULL);
	pthread_create(&threads[made++], NULL, sleeper, NULL);
	pthread_create(&threads[made++], NULL, spinner, NULL);
	puts("running");
	fflush(stdout);
	wait_for_end();
	for (int i = 0; i < made; i++)
		pthread_join(threads[i], NULL);
	printf("%lu rounds, %lu wrong\n", rounds, wrong);
	return rounds == 0 || wrong;
}
