/* First it computes; then it waits for a lock that a thread holds which it has started. */
#include "victim.h"

static pthread_mutex_t state_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t firsts[3], parsed, waited, rebuilt;

OWN static uint64_t parse(uint64_t x)
{
	for (int i = 0; i < 500000; i++) /* hot: parse */
		STIR(x);
	return x;
}

/* So long that it does not matter if the other thread has the lock to itself for a while, because
 * this one has lost its CPU just when it did not hold it. */
OWN static uint64_t rebuild(uint64_t x)
{
	for (int i = 0; i < 40000000; i++) /* hot: rebuild */
		STIR(x);
	return x;
}

OWN static uint64_t between(uint64_t x)
{
	for (int i = 0; i < 100000; i++)
		STIR(x);
	return x;
}

static void *rebuilding(void *unused)
{
	while (running()) { /* hot: rebuilding */
		uint64_t x;
		pthread_mutex_lock(&state_lock);
		CPU_OF(rebuilt, x = rebuild(7));
		pthread_mutex_unlock(&state_lock);
		same(&firsts[1], between(x));
	}
	return unused;
}

OWN static uint64_t commit_state(uint64_t x)
{
	TIME_OF(waited, pthread_mutex_lock(&state_lock));
	x++;
	pthread_mutex_unlock(&state_lock);
	return between(x) + 1;
}

OWN static void parse_all(void)
{
	while (in_first_phase()) { /* hot: parse_all */
		uint64_t x;
		CPU_OF(parsed, x = parse(7));
		same(&firsts[0], x);
	}
}

OWN static void commit_all(void)
{
	while (running()) /* hot: commit_all */
		same(&firsts[2], commit_state(7));
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	parse_all();
	double half = elapsed();
	pthread_t rebuilder = thread("rebuilder", rebuilding, NULL);
	commit_all();
	pthread_join(rebuilder, NULL);
	finish("phases");
	tell_cpu("parse", parsed);
	tell_cpu("rebuild", rebuilt);
	tell("sync", "state_lock", waited, elapsed() + (elapsed() - half));
}
