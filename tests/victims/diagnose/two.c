/* Two hot functions at once: 60 and 30 per cent. */
#include "victim.h"

static uint64_t first, six, three;

OWN static uint64_t compress(uint64_t x)
{
	for (int i = 0; i < 600000; i++) /* hot: compress */
		STIR(x);
	return x;
}

OWN static uint64_t encrypt(uint64_t x)
{
	for (int i = 0; i < 300000; i++) /* hot: encrypt */
		STIR(x);
	return x;
}

OWN static uint64_t store(uint64_t x)
{
	for (int i = 0; i < 100000; i++)
		STIR(x);
	return x;
}

OWN static uint64_t archive(uint64_t x)
{
	CPU_OF(six, x = compress(x));
	CPU_OF(three, x ^= encrypt(x));
	return x ^ store(x);
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	while (running()) /* hot: main */
		same(&first, archive(7));
	finish("two");
	tell_cpu("compress", six);
	tell_cpu("encrypt", three);
}
