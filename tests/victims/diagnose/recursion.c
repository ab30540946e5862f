/* Hot at the bottom of a deep recursion. */
#include "victim.h"

static uint64_t first, hot;

OWN static uint64_t settle(uint64_t x)
{
	for (int i = 0; i < 400000; i++) /* hot: settle */
		STIR(x);
	return x;
}

OWN static uint64_t descend(uint64_t x, int depth)
{
	for (int i = 0; i < 1000; i++)
		STIR(x);
	if (depth == 0)
		CPU_OF(hot, x = settle(x));
	else
		x ^= descend(x, depth - 1);
	return x + (uint64_t)depth;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	while (running()) /* hot: main */
		same(&first, descend(7, 50));
	finish("recursion");
	tell_cpu("settle", hot);
}
