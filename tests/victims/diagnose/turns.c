/* Three readers wait for two things by turns, each for a few milliseconds: for a lock in one
 * function, for some time to pass in another, which is half of the time that the lock is held for:
 * that depends on the machine. */
#include "victim.h"

enum { READERS = 3 };

static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static uint64_t first, second, waited, rested, held;
static uint64_t last_write = 18000000; /* ns that it took */

OWN static uint64_t rehash(uint64_t x)
{
	for (int i = 0; i < 9000000; i++) /* hot: rehash */
		STIR(x);
	return x;
}

OWN static uint64_t look_up(uint64_t x)
{
	TIME_OF(waited, pthread_rwlock_rdlock(&table_lock));
	for (int i = 0; i < 5000; i++)
		STIR(x);
	pthread_rwlock_unlock(&table_lock);
	return x;
}

OWN static uint64_t rest(uint64_t x)
{
	for (int i = 0; i < 5000; i++)
		STIR(x);
	uint64_t half = __atomic_load_n(&last_write, __ATOMIC_RELAXED) / 2;
	TIME_OF(rested, usleep((useconds_t)(half / 1000)));
	return x;
}

static void *reader(void *unused)
{
	while (running()) /* hot: reader */
		same(&second, rest(look_up(7)));
	return unused;
}

static void *writer(void *unused)
{
	while (running()) { /* hot: writer */
		uint64_t x, took = 0;
		pthread_rwlock_wrlock(&table_lock);
		TIME_OF(took, CPU_OF(held, x = rehash(7)));
		pthread_rwlock_unlock(&table_lock);
		__atomic_store_n(&last_write, took, __ATOMIC_RELAXED);
		for (int i = 0; i < 20000; i++)
			STIR(x);
		same(&first, x);
	}
	return unused;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	pthread_t all[READERS + 1];
	for (int i = 0; i < READERS; i++)
		all[i] = thread("reader", reader, NULL);
	all[READERS] = thread("writer", writer, NULL);
	for (int i = 0; i <= READERS; i++)
		pthread_join(all[i], NULL);
	finish("turns");
	tell("sync", "table_lock", waited, elapsed() * (READERS + 1));
	tell("sync", "rest", rested, elapsed() * (READERS + 1));
	tell_cpu("rehash", held);
}
