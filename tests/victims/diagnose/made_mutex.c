/* Locks that no variable names: each account on the heap has its own. */
#include "victim.h"

enum { ACCOUNTS = 2, THREADS = 3 };

struct account {
	uint64_t number;
	pthread_mutex_t lock;
};

static struct account *accounts[ACCOUNTS];
static uint64_t first, waited, held;

OWN static struct account *open_account(uint64_t number)
{
	struct account *a = malloc(sizeof(*a));
	a->number = number;
	if (pthread_mutex_init(&a->lock, NULL))
		abort();
	return a;
}

OWN static uint64_t audit(uint64_t x)
{
	for (int i = 0; i < 2500000; i++) /* hot: audit */
		STIR(x);
	return x;
}

OWN static uint64_t deposit(struct account *a, uint64_t x)
{
	TIME_OF(waited, pthread_mutex_lock(&a->lock));
	CPU_OF(held, x = audit(x));
	pthread_mutex_unlock(&a->lock);
	for (int i = 0; i < 60000; i++)
		STIR(x);
	return x;
}

/* All want the last one; nobody the first. */
static void *customer(void *unused)
{
	while (running()) /* hot: customer */
		same(&first, deposit(accounts[ACCOUNTS - 1], 7));
	return unused;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	for (int i = 0; i < ACCOUNTS; i++)
		accounts[i] = open_account((uint64_t)i);
	pthread_t all[THREADS];
	for (int i = 0; i < THREADS; i++)
		all[i] = thread("customer", customer, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(all[i], NULL);
	finish("made_mutex");
	tell("sync", "deposit", waited, elapsed() * THREADS);
	tell_cpu("audit", held);
}
