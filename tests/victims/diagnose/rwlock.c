/* Two readers wait for a writer that holds the lock most of the time, as those who read give way to
 * it: otherwise they share the lock for as long as it takes the writer to wake up, which is the
 * machine's business. */
#include "victim.h"

enum { READERS = 2 };

static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static uint64_t first, second, waited, held;

OWN static uint64_t rehash(uint64_t x)
{
	for (int i = 0; i < 8000000; i++) /* hot: rehash */
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

OWN static uint64_t between(uint64_t x)
{
	for (int i = 0; i < 20000; i++)
		STIR(x);
	return x;
}

static void *reader(void *unused)
{
	while (running()) /* hot: reader */
		same(&second, between(look_up(7)));
	return unused;
}

static void *writer(void *unused)
{
	while (running()) { /* hot: writer */
		uint64_t x;
		pthread_rwlock_wrlock(&table_lock);
		CPU_OF(held, x = rehash(7));
		pthread_rwlock_unlock(&table_lock);
		same(&first, between(x));
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
	finish("rwlock");
	tell("sync", "table_lock", waited, elapsed() * (READERS + 1));
	tell_cpu("rehash", held);
}
