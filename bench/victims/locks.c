/* Threads that meet at locks all the time:
 *
 *	locks mutex|condition TURNS
 *
 * mutex: four threads, each works 2 us with the lock and 4 us without it. condition: two threads
 * pass items to two others through a queue of eight, and work 5 us on each. Prints the seconds it
 * took by the wall, and of the CPU. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 4, ROOM = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static uint64_t queue[ROOM], inside, put_count, got_count, turns;

/* About a ns a unit. */
__attribute__((noinline)) static uint64_t work(uint64_t x, unsigned units)
{
	for (unsigned i = 0; i < units / 2; i++)
		x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9;
	return x;
}

__attribute__((noinline)) void take(pthread_mutex_t *m)
{
	if (pthread_mutex_lock(m))
		abort();
}

__attribute__((noinline)) void give(pthread_mutex_t *m)
{
	if (pthread_mutex_unlock(m))
		abort();
}

__attribute__((noinline)) void wait_for(pthread_cond_t *c)
{
	if (pthread_cond_wait(c, &lock))
		abort();
}

static void *use_lock(void *arg)
{
	uint64_t x = (uintptr_t)arg;
	for (uint64_t i = 0; i < turns; i++) {
		take(&lock);
		inside = work(inside + x, 2000);
		give(&lock);
		x = work(x, 4000);
	}
	return NULL;
}

static void put(uint64_t x)
{
	take(&lock);
	while (put_count - got_count == ROOM)
		wait_for(&emptied);
	queue[put_count++ % ROOM] = x;
	pthread_cond_signal(&filled);
	give(&lock);
}

static uint64_t get(void)
{
	take(&lock);
	while (put_count == got_count)
		wait_for(&filled);
	uint64_t x = queue[got_count++ % ROOM];
	pthread_cond_signal(&emptied);
	give(&lock);
	return x;
}

static void *pass_items(void *arg)
{
	uint64_t x = (uintptr_t)arg;
	for (uint64_t i = 0; i < turns; i++)
		if ((uintptr_t)arg % 2)
			put(x = work(x, 5000));
		else
			inside += work(get(), 5000);
	return NULL;
}

static double seconds(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	if (argc < 3)
		return 2;
	turns = strtoul(argv[2], NULL, 10);
	double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL,
				   strcmp(argv[1], "mutex") ? pass_items : use_lock, (void *)i))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%.6f %.6f\n", seconds(CLOCK_MONOTONIC) - wall,
	       seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
	return 0;
}
