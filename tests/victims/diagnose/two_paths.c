/* The same lock from two paths, two threads on each. */
#include "victim.h"

enum { THREADS = 4 };

static pthread_mutex_t index_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t first, second, inserting, removing, held;

OWN static uint64_t rebuild(uint64_t x)
{
	for (int i = 0; i < 2500000; i++) /* hot: rebuild */
		STIR(x);
	return x;
}

OWN static uint64_t pause_between(uint64_t x)
{
	for (int i = 0; i < 60000; i++)
		STIR(x);
	return x;
}

OWN static uint64_t insert(uint64_t x)
{
	TIME_OF(inserting, pthread_mutex_lock(&index_lock));
	CPU_OF(held, x = rebuild(x));
	pthread_mutex_unlock(&index_lock);
	return x;
}

OWN static uint64_t remove_one(uint64_t x)
{
	TIME_OF(removing, pthread_mutex_lock(&index_lock));
	CPU_OF(held, x = rebuild(x + 1));
	pthread_mutex_unlock(&index_lock);
	return x;
}

static void *writer(void *unused)
{
	while (running()) /* hot: writer */
		same(&first, pause_between(insert(7)));
	return unused;
}

static void *cleaner(void *unused)
{
	while (running()) /* hot: cleaner */
		same(&second, pause_between(remove_one(7)));
	return unused;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	pthread_t all[THREADS];
	for (int i = 0; i < THREADS; i++)
		all[i] = i % 2 ? thread("writer", writer, NULL) : thread("cleaner", cleaner, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(all[i], NULL);
	finish("two_paths");
	tell("sync", "insert", inserting, elapsed() * THREADS);
	tell("sync", "remove_one", removing, elapsed() * THREADS);
	tell_cpu("rebuild", held);
}
