/* Ends after 0.3 s, whatever its argument: sooner than anything can be known of it. */
#include "victim.h"

static uint64_t first, hot;

OWN static uint64_t hurry(uint64_t x)
{
	for (int i = 0; i < 300000; i++) /* hot: hurry */
		STIR(x);
	return x;
}

int main(void)
{
	wanted = 0.3;
	begin(0, NULL);
	while (running()) { /* hot: main */
		uint64_t x;
		CPU_OF(hot, x = hurry(7));
		same(&first, x);
	}
	finish("brief");
	tell_cpu("hurry", hot);
	return 3;
}
