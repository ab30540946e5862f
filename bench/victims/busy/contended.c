/* Four threads that book into one table, each booking under one mutex: it is taken some hundred
 * thousand times a second, and mostly by somebody else. usage: contended BOOKINGS */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, ACCOUNTS = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t accounts[ACCOUNTS];
static long bookings;

__attribute__((noinline)) static uint64_t price(uint64_t x)
{
	for (int i = 0; i < 400; i++)
		x = x * 6364136223846793005 + 1442695040888963407;
	return x >> 33;
}

__attribute__((noinline)) static void book(uint64_t amount)
{
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < 200; i++)
		accounts[(amount + i * 67) % ACCOUNTS] += amount;
	pthread_mutex_unlock(&lock);
}

static void *trade(void *first)
{
	uint64_t x = (uintptr_t)first + 1;
	for (long i = 0; i < bookings / THREADS; i++)
		book(x = price(x));
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	uint64_t sum = 0;
	bookings = argc > 1 ? atol(argv[1]) : 100000;
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, trade, (void *)i))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < ACCOUNTS; i++)
		sum += accounts[i];
	printf("%lu\n", (unsigned long)sum);
	return 0;
}
