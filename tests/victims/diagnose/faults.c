/* Touches memory that is new each time: most of its time is the kernel's, in page faults. */
#include "victim.h"

enum { SIZE = 8 << 20, PAGE = 4096 };

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

OWN static void turn(void)
{
	char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || madvise(memory, SIZE, MADV_NOHUGEPAGE))
		abort();
	same(&first, fill(memory));
	munmap(memory, SIZE);
}

OWN static uint64_t compute(uint64_t x)
{
	for (int i = 0; i < 200000; i++) /* hot: compute */
		STIR(x);
	return x;
}

int main(int argc, char **argv)
{
	static uint64_t second;
	begin(argc, argv);
	while (running()) { /* hot: main */
		turn();
		same(&second, compute(7));
	}
	finish("faults");
	tell_system("kernel", kernel_ns());
}
