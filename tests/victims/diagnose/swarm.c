/* Threads and locks that come and go fast, beside one thread that is hot. */
#include "victim.h"

enum { THREADS = 20, LOCKS = 2 };

static uint64_t first, second, hot, made;

OWN static uint64_t crunch(uint64_t x)
{
	for (int i = 0; i < 500000; i++) /* hot: crunch */
		STIR(x);
	return x;
}

static void *steady(void *unused)
{
	while (running()) { /* hot: steady */
		uint64_t x;
		CPU_OF(hot, x = crunch(7));
		same(&first, x);
	}
	return unused;
}

static void *fleeting(void *lock)
{
	uint64_t x = 7;
	pthread_mutex_lock(lock);
	for (int i = 0; i < 2000; i++)
		STIR(x);
	pthread_mutex_unlock(lock);
	same(&second, x);
	return NULL;
}

OWN static void burst(void)
{
	pthread_mutex_t *locks = malloc(LOCKS * sizeof(*locks));
	pthread_t all[THREADS];
	for (int i = 0; i < LOCKS; i++)
		pthread_mutex_init(&locks[i], NULL);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&all[i], NULL, fleeting, &locks[i % LOCKS]))
			abort();
	for (int i = 0; i < THREADS; i++)
		pthread_join(all[i], NULL);
	for (int i = 0; i < LOCKS; i++)
		pthread_mutex_destroy(&locks[i]);
	free(locks);
	made += THREADS;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	pthread_t t = thread("steady", steady, NULL);
	while (running()) { /* hot: main */
		burst();
		usleep(8000);
	}
	pthread_join(t, NULL);
	finish("swarm");
	tell_cpu("crunch", hot);
	fprintf(truth_file, "made threads %llu\n", (unsigned long long)made);
}
