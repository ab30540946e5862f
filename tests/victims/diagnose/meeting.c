/* A barrier that the program has written itself: threads spin for a while, then they wait. One has
 * four times the work of the other. */
#include "victim.h"

enum { THREADS = 2, PATIENCE = 3000000 };

static struct {
	pthread_mutex_t mutex;
	pthread_cond_t all_here;
	uint32_t arrived, round;
} meeting = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};

static uint64_t waited, computed, busiest, firsts[2];
static bool last;

OWN static void meet(bool ends)
{
	pthread_mutex_lock(&meeting.mutex);
	uint32_t round = __atomic_load_n(&meeting.round, __ATOMIC_ACQUIRE);
	if (++meeting.arrived == THREADS) {
		meeting.arrived = 0;
		last |= ends;
		__atomic_store_n(&meeting.round, round + 1, __ATOMIC_RELEASE);
		pthread_cond_broadcast(&meeting.all_here);
		pthread_mutex_unlock(&meeting.mutex);
		return;
	}
	pthread_mutex_unlock(&meeting.mutex);
	for (int i = 0; i < PATIENCE; i++) /* hot: spin */
		if (__atomic_load_n(&meeting.round, __ATOMIC_ACQUIRE) != round)
			return;
	pthread_mutex_lock(&meeting.mutex);
	while (meeting.round == round) /* hot: wait */
		pthread_cond_wait(&meeting.all_here, &meeting.mutex);
	pthread_mutex_unlock(&meeting.mutex);
}

OWN static uint64_t compute(uint64_t x, int units)
{
	for (int i = 0; i < units * 2000000; i++) /* hot: compute */
		STIR(x);
	return x;
}

static void *part(void *light)
{
	uint64_t x, mine = 0;
	do { /* hot: part */
		CPU_OF(mine, x = compute(7, light ? 1 : 4));
		same(&firsts[light ? 1 : 0], x);
		TIME_OF(waited, meet(!light && !running()));
		TIME_OF(waited, meet(false));
	} while (!last);
	__atomic_fetch_add(&computed, mine, __ATOMIC_RELAXED);
	if (!light)
		busiest = mine;
	return NULL;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	pthread_t all[THREADS];
	for (int i = 0; i < THREADS; i++)
		all[i] = thread(i ? "light" : "heavy", part, i ? &meeting : NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(all[i], NULL);
	finish("meeting");
	tell("sync", "meet", waited, elapsed() * THREADS);
	tell_cpu_of("compute", computed, (double)computed / 1e9, run_seconds());
	tell_imbalance("compute", busiest - computed / THREADS, busiest);
}
