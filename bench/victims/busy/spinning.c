/* Four threads at a barrier that spins for a moment before it waits in the kernel, some 20,000
 * rounds a second. usage: spinning ROUNDS */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 4, SPINS = 400 };

static atomic_uint here, round_number;
static uint64_t results[THREADS][8];
static long rounds;

static void meet(void)
{
	unsigned mine = atomic_load(&round_number);
	if (atomic_fetch_add(&here, 1) + 1 == THREADS) {
		atomic_store(&here, 0);
		atomic_fetch_add(&round_number, 1);
		syscall(SYS_futex, &round_number, FUTEX_WAKE_PRIVATE, THREADS, NULL, NULL, 0);
		return;
	}
	for (int i = 0; i < SPINS; i++)
		if (atomic_load(&round_number) != mine)
			return;
	while (atomic_load(&round_number) == mine)
		syscall(SYS_futex, &round_number, FUTEX_WAIT_PRIVATE, mine, NULL, NULL, 0);
}

__attribute__((noinline)) static uint64_t step(uint64_t x, int steps)
{
	for (int i = 0; i < steps; i++)
		x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9 + (uint64_t)i;
	return x;
}

static void *work(void *argument)
{
	uintptr_t me = (uintptr_t)argument;
	for (long i = 0; i < rounds; i++) {
		results[me][0] = step(results[me][0] + me, 14000);
		meet();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	uint64_t sum = 0;
	rounds = argc > 1 ? atol(argv[1]) : 20000;
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			return 1;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum ^= results[i][0];
	}
	printf("%lu\n", (unsigned long)sum);
	return 0;
}
