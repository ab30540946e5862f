/* Three processes meet at a barrier in memory that they share; one has four times the work. */
#include "victim.h"

enum { WORKERS = 3 };

static struct {
	pthread_barrier_t phase;
	uint64_t waited, computed, busiest, firsts[2];
	unsigned differing;
	bool last;
} * all;

OWN static uint64_t compute(uint64_t x, int units)
{
	for (int i = 0; i < units * 2000000; i++) /* hot: compute */
		STIR(x);
	return x;
}

OWN static bool meet(void)
{
	TIME_OF(all->waited, if (pthread_barrier_wait(&all->phase) == PTHREAD_BARRIER_SERIAL_THREAD)
				     all->last = !running());
	TIME_OF(all->waited, pthread_barrier_wait(&all->phase));
	return all->last;
}

OWN static void work(int units)
{
	uint64_t x, mine = 0;
	do { /* hot: work */
		CPU_OF(mine, x = compute(7, units));
		same(&all->firsts[units > 1], x);
	} while (!meet());
	__atomic_fetch_add(&all->computed, mine, __ATOMIC_RELAXED);
	__atomic_fetch_add(&all->differing, differing, __ATOMIC_RELAXED);
	if (units > 1)
		all->busiest = mine;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	all = shared_memory(sizeof(*all));
	pthread_barrierattr_t shared;
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&all->phase, &shared, WORKERS);
	for (int i = 0; i < WORKERS; i++)
		if (fork() == 0) {
			work(i ? 1 : 4);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	differing = all->differing;
	finish("workers");
	tell("sync", "meet", all->waited, elapsed() * WORKERS);
	tell_cpu("compute", all->computed);
	tell_imbalance("compute", all->busiest - all->computed / WORKERS, all->busiest);
}
