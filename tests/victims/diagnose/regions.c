/* Parallel regions with even work, and serial code between them for which the other threads wait. */
#include <omp.h>

#include "victim.h"

enum { THREADS = 2, ITEMS = 8 };

static uint64_t firsts[2], divided, merged, in_merges;

OWN static uint64_t item(uint64_t x)
{
	for (int i = 0; i < 300000; i++) /* hot: item */
		STIR(x);
	return x;
}

OWN static void sweep(void)
{
#pragma omp parallel for schedule(static) num_threads(THREADS)
	for (int i = 0; i < ITEMS; i++) { /* hot: items */
		uint64_t x, mine = 0;
		CPU_OF(mine, x = item(7));
		same(&firsts[0], x);
		__atomic_fetch_add(&divided, mine, __ATOMIC_RELAXED);
	}
}

OWN static uint64_t merge(uint64_t x)
{
	for (int i = 0; i < 1200000; i++) /* hot: merge */
		STIR(x);
	return x;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	while (running()) { /* hot: main */
		uint64_t x;
		sweep();
		TIME_OF(in_merges, CPU_OF(merged, x = merge(9)));
		same(&firsts[1], x);
	}
	finish("regions");
	/* The runtime's threads spin while they wait: that is no work. */
	double worked = (double)(divided + merged) / 1e9;
	tell_cpu_of("item", divided, worked, run_seconds());
	tell_cpu_of("merge", merged, worked, run_seconds());
	tell("sync", "merge", (THREADS - 1) * in_merges, elapsed() * THREADS);
}
