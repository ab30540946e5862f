/* Four threads want one lock, which is held while the queue is put in order. */
#include "victim.h"

enum { THREADS = 4 };

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t first, waited, held;

OWN static uint64_t order_queue(uint64_t x)
{
	for (int i = 0; i < 2500000; i++) /* hot: order */
		STIR(x);
	return x;
}

OWN static uint64_t handle(uint64_t x)
{
	for (int i = 0; i < 60000; i++)
		STIR(x);
	return x;
}

OWN static uint64_t take(uint64_t x)
{
	TIME_OF(waited, pthread_mutex_lock(&queue_lock));
	CPU_OF(held, x = order_queue(x));
	pthread_mutex_unlock(&queue_lock);
	return x;
}

static void *serve(void *unused)
{
	while (running()) /* hot: serve */
		same(&first, handle(take(7)));
	return unused;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	pthread_t all[THREADS];
	for (int i = 0; i < THREADS; i++)
		all[i] = thread("server", serve, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(all[i], NULL);
	finish("mutex");
	tell("sync", "queue_lock", waited, elapsed() * THREADS);
	tell_cpu("order_queue", held);
}
