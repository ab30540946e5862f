/* Two threads that compute, and a thousand that wait for the end. usage: idle STEPS [IDLE] */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUSY = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static int has_ended;
static long steps;

__attribute__((noinline)) static uint64_t mix(uint64_t x)
{
	for (int i = 0; i < 1000; i++)
		x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9 + (uint64_t)i;
	return x;
}

static void *compute(void *result)
{
	for (long i = 0; i < steps; i++)
		*(uint64_t *)result = mix(*(uint64_t *)result);
	return NULL;
}

static void *wait_for_the_end(void *unused)
{
	pthread_mutex_lock(&lock);
	while (!has_ended)
		pthread_cond_wait(&ended, &lock);
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(int argc, char **argv)
{
	int idle = argc > 2 ? atoi(argv[2]) : 1000;
	pthread_t busy[BUSY], *idlers = calloc((size_t)idle + 1, sizeof(*idlers));
	uint64_t results[BUSY] = {1, 2};
	steps = argc > 1 ? atol(argv[1]) : 1000;
	for (int i = 0; i < idle; i++)
		if (pthread_create(&idlers[i], NULL, wait_for_the_end, NULL))
			return 1;
	for (int i = 0; i < BUSY; i++)
		if (pthread_create(&busy[i], NULL, compute, &results[i]))
			return 1;
	for (int i = 0; i < BUSY; i++)
		pthread_join(busy[i], NULL);
	pthread_mutex_lock(&lock);
	has_ended = 1;
	pthread_cond_broadcast(&ended);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < idle; i++)
		pthread_join(idlers[i], NULL);
	printf("%lu\n", (unsigned long)(results[0] ^ results[1]));
	return 0;
}
