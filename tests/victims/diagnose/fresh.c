/* Touches memory that malloc gets from the kernel each time, because free has given it back. */
#include "victim.h"

enum { SIZE = 40 << 20, PAGE = 4096 };

static uint64_t first;

OWN static uint64_t fill(char *memory)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < SIZE; i += PAGE) { /* hot: fill */
		memory[i] = (char)i;
		sum += (uint64_t)memory[i] + i;
	}
	return sum;
}

OWN static uint64_t turn(void)
{
	char *memory = malloc(SIZE);
	if (!memory)
		abort();
	uint64_t sum = fill(memory);
	free(memory);
	return sum;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	while (running()) /* hot: main */
		same(&first, turn());
	finish("fresh");
	tell_system("kernel", kernel_ns());
}
