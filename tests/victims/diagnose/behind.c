/* One hot inner loop behind three calls. */
#include "victim.h"

static uint64_t first, hot;

OWN static uint64_t relax(uint64_t x, int rows, int cells)
{
	for (int row = 0; row < rows; row++) { /* hot: outer */
		x += (uint64_t)row;
		for (int cell = 0; cell < cells; cell++) /* hot: inner */
			STIR(x);
	}
	return x;
}

OWN static uint64_t step(uint64_t x)
{
	CPU_OF(hot, x = relax(x, 20, 20000));
	return x + 1;
}

OWN static uint64_t output(uint64_t x)
{
	for (int i = 0; i < 60000; i++)
		STIR(x);
	return x;
}

OWN static uint64_t simulate(uint64_t x)
{
	for (int i = 0; i < 2; i++) /* hot: steps */
		x = step(x) ^ 5;
	return x ^ output(x);
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	while (running()) /* hot: main */
		same(&first, simulate(7));
	finish("behind");
	tell_cpu("relax", hot);
}
