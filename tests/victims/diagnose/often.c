/* A tiny function that is called all the time: a probe in it would cost more than it does. */
#include "victim.h"

static uint64_t first, hot;

OWN static uint64_t tiny(uint64_t x)
{
	STIR(x);
	return x;
}

OWN static uint64_t caller(uint64_t x)
{
	for (int i = 0; i < 300000; i++) /* hot: caller */
		x = tiny(x) + 1;
	return x;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	while (running()) { /* hot: main */
		uint64_t x;
		CPU_OF(hot, x = caller(7));
		same(&first, x);
	}
	finish("often");
	tell_cpu("caller", hot);
}
