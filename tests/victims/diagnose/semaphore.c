/* Three clients, one slot. */
#include <semaphore.h>

#include "victim.h"

enum { CLIENTS = 3 };

static sem_t slots;
static uint64_t first, waited, used;

OWN static uint64_t use_slot(uint64_t x)
{
	for (int i = 0; i < 2500000; i++) /* hot: use */
		STIR(x);
	return x;
}

OWN static uint64_t request(uint64_t x)
{
	TIME_OF(waited, sem_wait(&slots));
	CPU_OF(used, x = use_slot(x));
	sem_post(&slots);
	for (int i = 0; i < 60000; i++)
		STIR(x);
	return x;
}

static void *client(void *unused)
{
	while (running()) /* hot: client */
		same(&first, request(7));
	return unused;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	sem_init(&slots, 0, 1);
	pthread_t all[CLIENTS];
	for (int i = 0; i < CLIENTS; i++)
		all[i] = thread("client", client, NULL);
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(all[i], NULL);
	finish("semaphore");
	tell("sync", "slots", waited, elapsed() * CLIENTS);
	tell_cpu("use_slot", used);
}
