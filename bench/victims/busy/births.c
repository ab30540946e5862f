/* Short threads, two at a time, some 40,000 a second. usage: births THREADS */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { AT_A_TIME = 2 };

__attribute__((noinline)) static void *live(void *result)
{
	uint64_t x = *(uint64_t *)result;
	for (int i = 0; i < 6000; i++)
		x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9 + (uint64_t)i;
	*(uint64_t *)result = x;
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t results[AT_A_TIME] = {1, 2};
	long threads = argc > 1 ? atol(argv[1]) : 1000;
	for (long born = 0; born < threads; born += AT_A_TIME) {
		pthread_t now[AT_A_TIME];
		for (int i = 0; i < AT_A_TIME; i++)
			if (pthread_create(&now[i], NULL, live, &results[i]))
				return 1;
		for (int i = 0; i < AT_A_TIME; i++)
			pthread_join(now[i], NULL);
	}
	printf("%lu\n", (unsigned long)(results[0] ^ results[1]));
	return 0;
}
