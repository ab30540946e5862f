/* Nothing is wrong with it: a timer, and a millisecond of work a second. All that is true of it is
 * that it sleeps. */
#include "victim.h"

static uint64_t first, slept;

OWN static uint64_t tick(uint64_t x)
{
	for (int i = 0; i < 400000; i++)
		STIR(x);
	return x;
}

OWN static void wait_for_tick(uint64_t until)
{
	struct timespec t = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
	TIME_OF(slept, clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL));
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	for (uint64_t next = began; running();) { /* hot: main */
		same(&first, tick(7));
		next += 1000000000u;
		wait_for_tick(next < deadline ? next : deadline);
	}
	finish("idle");
	tell("sync", "wait_for_tick", slept, elapsed());
}
