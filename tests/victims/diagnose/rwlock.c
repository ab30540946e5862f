/* Two readers wait for a writer that holds the lock most of the time. They read once for each time
 * that it does: otherwise they would have the lock for as long as the writer gets no CPU,
 * which is the machine's business. */
#include "victim.h"

enum { READERS = 2 };

static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static uint64_t first, second, waited, held, written;

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

static void wait_for_writer(uint64_t seen)
{
	while (__atomic_load_n(&written, __ATOMIC_RELAXED) == seen && running())
		usleep(100);
}

static void *reader(void *unused)
{
	while (running()) { /* hot: reader */
		uint64_t seen = __atomic_load_n(&written, __ATOMIC_RELAXED);
		same(&second, between(look_up(7)));
		wait_for_writer(seen);
	}
	return unused;
}

static void *writer(void *unused)
{
	while (running()) { /* hot: writer */
		uint64_t x;
		pthread_rwlock_wrlock(&table_lock);
		__atomic_fetch_add(&written, 1, __ATOMIC_RELAXED);
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
