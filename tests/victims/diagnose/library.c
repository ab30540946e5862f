/* Hot in a library that it is linked with. */
#include "victim.h"

uint64_t library_work(uint64_t x);

static uint64_t first, hot;

OWN static uint64_t use(uint64_t x)
{
	CPU_OF(hot, x = library_work(x));
	for (int i = 0; i < 100000; i++)
		STIR(x);
	return x;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	while (running()) /* hot: main */
		same(&first, use(7));
	finish("library");
	tell_cpu("inside", hot);
}
