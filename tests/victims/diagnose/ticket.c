/* Threads that take turns by numbers, and spin until it is theirs. */
#include "victim.h"

enum { THREADS = 2 };

static struct {
	uint32_t next, serving;
} turn;
static uint64_t waited, computed, prepared, firsts[2];

OWN static void take_turn(void)
{
	uint32_t mine = __atomic_fetch_add(&turn.next, 1, __ATOMIC_RELAXED);
	while (__atomic_load_n(&turn.serving, __ATOMIC_ACQUIRE) != mine) /* hot: take_turn */
		;
}

OWN static uint64_t compute(uint64_t x)
{
	for (int i = 0; i < 3000000; i++) /* hot: compute */
		STIR(x);
	return x;
}

OWN static uint64_t prepare(uint64_t x)
{
	for (int i = 0; i < 500000; i++) /* hot: prepare */
		STIR(x);
	return x;
}

static void *work(void *unused)
{
	(void)unused;
	while (running()) { /* hot: work */
		uint64_t x, mine = 0;
		CPU_OF(prepared, same(&firsts[0], prepare(5)));
		TIME_OF(waited, take_turn());
		CPU_OF(mine, x = compute(7));
		__atomic_fetch_add(&turn.serving, 1, __ATOMIC_RELEASE);
		same(&firsts[1], x);
		__atomic_fetch_add(&computed, mine, __ATOMIC_RELAXED);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	pthread_t all[THREADS];
	for (int i = 0; i < THREADS; i++)
		all[i] = thread("ticket", work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(all[i], NULL);
	finish("ticket");
	tell("sync", "take_turn", waited, elapsed() * THREADS);
	/* Spinning is no work. */
	tell_cpu_of("compute", computed, (double)(computed + prepared) / 1e9, run_seconds());
}
