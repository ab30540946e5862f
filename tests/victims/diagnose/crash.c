/* Dies in its hot loop. */
#include "victim.h"

static uint64_t first, hot;
static char *volatile nowhere;

OWN static uint64_t corrupt(uint64_t x, bool now)
{
	for (int i = 0; i < 500000; i++) { /* hot: corrupt */
		STIR(x);
		if (now && i == 250000)
			*nowhere = (char)x;
	}
	return x;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	while (running()) { /* hot: main */
		uint64_t x;
		CPU_OF(hot, x = corrupt(7, false));
		same(&first, x);
	}
	finish("crash");
	tell_cpu("corrupt", hot);
	fclose(truth_file);
	return (int)corrupt(7, true);
}
