/* Asks a device again and again, and sleeps in between. */
#include "victim.h"

static uint64_t first, slept;

OWN static uint64_t ask(uint64_t x)
{
	for (int i = 0; i < 300000; i++)
		STIR(x);
	return x;
}

OWN static void poll_device(void)
{
	for (int i = 0; i < 3; i++) { /* hot: poll */
		same(&first, ask(7));
		TIME_OF(slept, usleep(15000));
	}
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	while (running()) /* hot: main */
		poll_device();
	finish("sleeping");
	tell("sync", "poll_device", slept, elapsed());
}
