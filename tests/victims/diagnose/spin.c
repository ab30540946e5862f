/* Two threads spin for one lock. */
#include "victim.h"

enum { THREADS = 2 };

static pthread_spinlock_t ticket;
static uint64_t first, waited, held, apart;

OWN static uint64_t bump(uint64_t x)
{
	for (int i = 0; i < 400000; i++) /* hot: bump */
		STIR(x);
	return x;
}

static uint64_t rest(uint64_t x)
{
	for (int i = 0; i < 60000; i++)
		STIR(x);
	return x;
}

OWN static uint64_t draw_ticket(uint64_t x)
{
	TIME_OF(waited, pthread_spin_lock(&ticket));
	CPU_OF(held, x = bump(x));
	pthread_spin_unlock(&ticket);
	CPU_OF(apart, x = rest(x));
	return x;
}

static void *visitor(void *unused)
{
	while (running()) /* hot: visitor */
		same(&first, draw_ticket(7));
	return unused;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	pthread_spin_init(&ticket, PTHREAD_PROCESS_PRIVATE);
	pthread_t all[THREADS];
	for (int i = 0; i < THREADS; i++)
		all[i] = thread("visitor", visitor, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(all[i], NULL);
	finish("spin");
	tell("sync", "ticket", waited, elapsed() * THREADS);
	/* Spinning is no work. */
	tell_cpu_of("bump", held, (double)(held + apart) / 1e9, run_seconds());
}
