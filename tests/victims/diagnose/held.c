/* Threads take a lock, and the one that has it sleeps. */
#include "victim.h"

enum { THREADS = 3 };

static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static uint64_t waited, first;

OWN static uint64_t prepare(uint64_t x)
{
	for (int i = 0; i < 300000; i++) /* hot: prepare */
		STIR(x);
	return x;
}

OWN static void update(void)
{
	usleep(8000);
	same(&first, prepare(5));
}

OWN static void enter(void)
{
	TIME_OF(waited, pthread_mutex_lock(&door));
}

static void *visit(void *unused)
{
	(void)unused;
	while (running()) { /* hot: visit */
		same(&first, prepare(5));
		enter();
		update();
		pthread_mutex_unlock(&door);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	pthread_t all[THREADS];
	for (int i = 0; i < THREADS; i++)
		all[i] = thread("visitor", visit, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(all[i], NULL);
	finish("held");
	tell("sync", "door", waited, elapsed() * THREADS);
}
