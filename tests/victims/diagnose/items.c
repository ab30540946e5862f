/* Allocates an item for each word, and frees them again: most of its time is the allocator's. */
#include "victim.h"

enum { ITEMS = 20000, WORDS = 64 };

static uint64_t first, made, dropped;
static char *items[ITEMS];
static uint32_t lengths[WORDS];

OWN static void make_items(void)
{
	for (int i = 0; i < ITEMS; i++) /* hot: make */
		*(items[i] = malloc(lengths[i % WORDS])) = (char)i;
}

OWN static void drop_items(void)
{
	for (int i = 0; i < ITEMS; i++) /* hot: drop */
		free(items[i]);
}

OWN static uint64_t compute(uint64_t x)
{
	for (int i = 0; i < 150000; i++) /* hot: compute */
		STIR(x);
	return x;
}

int main(int argc, char **argv)
{
	uint64_t x = 7;
	for (int i = 0; i < WORDS; i++)
		lengths[i] = (uint32_t)(16 + STIR(x) % 1000);
	begin(argc, argv);
	while (running()) { /* hot: main */
		CPU_OF(made, make_items());
		CPU_OF(dropped, drop_items());
		same(&first, compute(7));
	}
	finish("items");
	tell_memory("make_items", made);
	tell_memory("drop_items", dropped);
}
