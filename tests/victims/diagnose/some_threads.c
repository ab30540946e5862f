/* Six threads of which two are hot, each in a function of its own; the others wait all the time. */
#include "victim.h"

static uint64_t first, second, drawn, coded;
static pthread_mutex_t over_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t over = PTHREAD_COND_INITIALIZER;
static bool is_over;

OWN static uint64_t draw(uint64_t x)
{
	for (int i = 0; i < 500000; i++) /* hot: draw */
		STIR(x);
	return x;
}

OWN static uint64_t encode(uint64_t x)
{
	for (int i = 0; i < 300000; i++) /* hot: encode */
		STIR(x);
	return x;
}

static void *drawing(void *unused)
{
	while (running()) { /* hot: drawing */
		uint64_t x;
		CPU_OF(drawn, x = draw(7));
		same(&first, x);
	}
	return unused;
}

static void *encoding(void *unused)
{
	while (running()) { /* hot: encoding */
		uint64_t x;
		CPU_OF(coded, x = encode(7));
		same(&second, x);
	}
	return unused;
}

static void *waiting(void *unused)
{
	pthread_mutex_lock(&over_lock);
	while (!is_over)
		pthread_cond_wait(&over, &over_lock);
	pthread_mutex_unlock(&over_lock);
	return unused;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	pthread_t all[5] = {
		thread("idle-1", waiting, NULL),    thread("idle-2", waiting, NULL),
		thread("idle-3", waiting, NULL),    thread("drawing", drawing, NULL),
		thread("encoding", encoding, NULL),
	};
	pthread_join(all[3], NULL);
	pthread_join(all[4], NULL);
	pthread_mutex_lock(&over_lock);
	is_over = true;
	pthread_cond_broadcast(&over);
	pthread_mutex_unlock(&over_lock);
	for (int i = 0; i < 3; i++)
		pthread_join(all[i], NULL);
	finish("some_threads");
	tell_cpu("draw", drawn);
	tell_cpu("encode", coded);
}
