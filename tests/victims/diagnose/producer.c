/* Two consumers wait on a condition for what a slow producer makes. */
#include "victim.h"

enum { CONSUMERS = 2 };

static pthread_mutex_t shelf_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t shelf_filled = PTHREAD_COND_INITIALIZER;
static int shelf;
static bool closed;
static uint64_t first, second, waited, made;

OWN static uint64_t make_item(uint64_t x)
{
	for (int i = 0; i < 4000000; i++) /* hot: make */
		STIR(x);
	return x;
}

OWN static uint64_t use_item(uint64_t x)
{
	for (int i = 0; i < 200000; i++)
		STIR(x);
	return x;
}

OWN static bool take_item(void)
{
	pthread_mutex_lock(&shelf_lock);
	while (!shelf && !closed) /* hot: take */
		TIME_OF(waited, pthread_cond_wait(&shelf_filled, &shelf_lock));
	bool taken = shelf > 0;
	shelf -= taken;
	pthread_mutex_unlock(&shelf_lock);
	return taken;
}

static void *consumer(void *unused)
{
	while (take_item()) /* hot: consumer */
		same(&second, use_item(7));
	return unused;
}

OWN static void put_item(int number)
{
	pthread_mutex_lock(&shelf_lock);
	shelf += number;
	closed = !number;
	pthread_cond_broadcast(&shelf_filled);
	pthread_mutex_unlock(&shelf_lock);
}

static void *producer(void *unused)
{
	while (running()) { /* hot: producer */
		uint64_t x;
		CPU_OF(made, x = make_item(7));
		same(&first, x);
		put_item(CONSUMERS);
	}
	put_item(0);
	return unused;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	pthread_t all[CONSUMERS + 1];
	for (int i = 0; i < CONSUMERS; i++)
		all[i] = thread("consumer", consumer, NULL);
	all[CONSUMERS] = thread("producer", producer, NULL);
	for (int i = 0; i <= CONSUMERS; i++)
		pthread_join(all[i], NULL);
	finish("producer");
	tell("sync", "shelf_filled", waited, elapsed() * (CONSUMERS + 1));
	tell_cpu("make_item", made);
}
