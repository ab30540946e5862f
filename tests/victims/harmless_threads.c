/* Thousands of short-lived threads, some of them started by threads; prints a checksum. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 250, AT_ONCE = 4 };

static uint64_t mix(uint64_t x)
{
	for (int i = 0; i < 2000; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

static void *leaf(void *arg)
{
	uint64_t *value = arg;
	*value = mix(*value);
	return value;
}

static void *branch(void *arg)
{
	uint64_t *value = arg, copy = *value ^ 1;
	pthread_t t;
	if (pthread_create(&t, NULL, leaf, &copy))
		abort();
	*value = mix(*value);
	if (pthread_join(t, NULL))
		abort();
	*value ^= copy;
	return NULL;
}

int main(void)
{
	uint64_t sum = 0;
	for (uint64_t round = 0; round < ROUNDS; round++) {
		pthread_t t[AT_ONCE];
		uint64_t value[AT_ONCE];
		for (int i = 0; i < AT_ONCE; i++) {
			value[i] = round * AT_ONCE + (uint64_t)i;
			if (pthread_create(&t[i], NULL, branch, &value[i]))
				abort();
		}
		for (int i = 0; i < AT_ONCE; i++) {
			if (pthread_join(t[i], NULL))
				abort();
			sum = sum * 31 + value[i];
		}
	}
	printf("threads %d sum %016llx\n", 2 * ROUNDS * AT_ONCE, (unsigned long long)sum);
	return 7;
}
