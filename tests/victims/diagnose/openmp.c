/* An OpenMP loop whose first part has four times the work of the others. */
#include <omp.h>

#include "victim.h"

enum { THREADS = 3, ITEMS = 12 };

static uint64_t firsts[2], computed, busiest, in_items, in_sweeps;

OWN static uint64_t item(uint64_t x, int number)
{
	for (int i = 0; i < (number < ITEMS / THREADS ? 2000000 : 500000); i++) /* hot: item */
		STIR(x);
	return x;
}

OWN static void sweep(void)
{
#pragma omp parallel for schedule(static) num_threads(THREADS)
	for (int i = 0; i < ITEMS; i++) { /* hot: items */
		uint64_t x, mine = 0;
		TIME_OF(in_items, CPU_OF(mine, x = item(7, i)));
		same(&firsts[i < ITEMS / THREADS], x);
		__atomic_fetch_add(&computed, mine, __ATOMIC_RELAXED);
		if (omp_get_thread_num() == 0)
			busiest += mine;
	}
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	while (running()) /* hot: main */
		TIME_OF(in_sweeps, sweep());
	finish("openmp");
	tell("sync", "sweep", THREADS * in_sweeps - in_items, elapsed() * THREADS);
	/* The runtime's threads spin while they wait: that is no work. */
	tell_cpu_of("item", computed, (double)computed / 1e9, run_seconds());
	tell_imbalance("item", busiest - computed / THREADS, busiest);
}
