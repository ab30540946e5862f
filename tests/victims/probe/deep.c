/* Recursion 100,000 deep, up and down again, and left at once from the bottom by longjmp. */
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>

#include "victim.h"

enum { DEPTH = 100000 };

KEEP u64 deep_down(u64 x, unsigned depth)
{
	CALLED("deep_down");
	u64 y = depth ? deep_down(x + depth, depth - 1) ^ depth : mix(x);
	LEFT("deep_down");
	return y;
}

KEEP void deep_out(jmp_buf out, unsigned depth)
{
	CALLED("deep_out");
	if (depth)
		deep_out(out, depth - 1);
	else if (out)
		longjmp(out, 1);
	BARRIER();
}

static void *run(void *arg)
{
	u64 *sum = arg;
	jmp_buf out;
	*sum = deep_down(1, DEPTH - 1);
	if (!setjmp(out))
		deep_out(out, DEPTH - 1);
	*sum += deep_down(2, 999);
	return NULL;
}

u64 victim_deep(void)
{
	pthread_t t;
	pthread_attr_t a;
	u64 sum = 0;
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 64 << 20);
	if (pthread_create(&t, &a, run, &sum) || pthread_join(t, NULL))
		abort();
	pthread_attr_destroy(&a);
	return sum;
}
