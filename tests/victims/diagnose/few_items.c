/* Allocates a little: it computes with what it has allocated. */
#include "victim.h"

static uint64_t first, hot;

OWN static uint64_t compute(const uint64_t *item)
{
	uint64_t x = *item;
	for (int i = 0; i < 300; i++) /* hot: compute */
		STIR(x);
	return x;
}

OWN static uint64_t turn(void)
{
	uint64_t sum = 0;
	for (uint64_t i = 0; i < 4000; i++) { /* hot: turn */
		uint64_t *item = malloc(16 + i % 1000);
		*item = i + 1;
		sum += compute(item);
		free(item);
	}
	return sum;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	while (running()) { /* hot: main */
		uint64_t sum = 0;
		CPU_OF(hot, sum = turn());
		same(&first, sum);
	}
	finish("few_items");
	tell_cpu("compute", hot);
}
