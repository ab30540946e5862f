/* The same work at the bottom of a recursion of so many calls. usage: depth COUNT */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define OWN __attribute__((noinline, noclone)) static

OWN uint64_t bottom(uint64_t x)
{
	for (long i = 0; i < 1000000000; i++)
		x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9 + (uint64_t)i;
	return x;
}

OWN uint64_t down(uint64_t left)
{
	uint64_t below = left ? down(left - 1) : bottom(1);
	__asm__("" : "+r"(below)); /* so that the compiler makes no loop of it */
	return below + 1;
}

static void *work(void *argument)
{
	uint64_t *number = argument;
	*number = down(*number);
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t number = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
	size_t stack = ((size_t)number * 64 + (1 << 20)) & -(size_t)65536;
	pthread_attr_t attributes;
	pthread_t thread;
	pthread_attr_init(&attributes);
	if (pthread_attr_setstacksize(&attributes, stack) ||
	    pthread_create(&thread, &attributes, work, &number) || pthread_join(thread, NULL))
		return 1;
	printf("%lu\n", (unsigned long)number);
	return 0;
}
