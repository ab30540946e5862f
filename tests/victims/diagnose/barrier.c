/* Three threads meet at a barrier; one has four times the work of the others. */
#include "victim.h"

enum { THREADS = 3 };

static pthread_barrier_t phase;
static uint64_t waited, computed, busiest, firsts[2];
static bool last;

OWN static uint64_t compute(uint64_t x, int units)
{
	for (int i = 0; i < units * 2000000; i++) /* hot: compute */
		STIR(x);
	return x;
}

OWN static bool meet(void)
{
	TIME_OF(waited, if (pthread_barrier_wait(&phase) == PTHREAD_BARRIER_SERIAL_THREAD) last =
				!running());
	TIME_OF(waited, pthread_barrier_wait(&phase));
	return last;
}

static void *part(void *light)
{
	uint64_t x, mine = 0;
	do { /* hot: part */
		CPU_OF(mine, x = compute(7, light ? 1 : 4));
		same(&firsts[light ? 1 : 0], x);
	} while (!meet());
	__atomic_fetch_add(&computed, mine, __ATOMIC_RELAXED);
	if (!light)
		busiest = mine;
	return NULL;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	pthread_barrier_init(&phase, NULL, THREADS);
	pthread_t all[THREADS];
	for (int i = 0; i < THREADS; i++)
		all[i] = thread(i ? "light" : "heavy", part, i ? &phase : NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(all[i], NULL);
	finish("barrier");
	tell("sync", "phase", waited, elapsed() * THREADS);
	tell_cpu("compute", computed);
	tell_imbalance("compute", busiest - computed / THREADS, busiest);
}
