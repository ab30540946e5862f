/* Four threads that do a millisecond of work, not all the same, and meet at a barrier made of a
 * mutex and a condition variable. usage: barrier ROUNDS */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_here = PTHREAD_COND_INITIALIZER;
static unsigned here, round_number;
static uint64_t results[THREADS][8];
static long rounds;

static void meet(void)
{
	pthread_mutex_lock(&lock);
	unsigned mine = round_number;
	if (++here == THREADS) {
		here = 0;
		round_number++;
		pthread_cond_broadcast(&all_here);
	}
	while (mine == round_number)
		pthread_cond_wait(&all_here, &lock);
	pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) static uint64_t relax(uint64_t x, long steps)
{
	for (long i = 0; i < steps; i++)
		x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9 + (uint64_t)i;
	return x;
}

static void *work(void *argument)
{
	uintptr_t me = (uintptr_t)argument;
	for (long i = 0; i < rounds; i++) {
		results[me][0] = relax(results[me][0] + me, 200000 + 40000 * (long)me);
		meet();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	uint64_t sum = 0;
	rounds = argc > 1 ? atol(argv[1]) : 100;
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
