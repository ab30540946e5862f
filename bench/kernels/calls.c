/* Little but calls: numbers of Fibonacci, Takeuchi's function, queens on a board. usage: calls SIZE
 */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static long fibonacci(int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__attribute__((noinline)) static int takeuchi(int x, int y, int z)
{
	if (y >= x)
		return z;
	return takeuchi(takeuchi(x - 1, y, z), takeuchi(y - 1, z, x), takeuchi(z - 1, x, y));
}

static int queens(unsigned all, unsigned columns, unsigned left, unsigned right)
{
	int found = 0;
	if (columns == all)
		return 1;
	for (unsigned free = all & ~(columns | left | right); free; free &= free - 1) {
		unsigned bit = free & -free;
		found += queens(all, columns | bit, (left | bit) << 1, (right | bit) >> 1);
	}
	return found;
}

int main(int argc, char **argv)
{
	int size = argc > 1 ? atoi(argv[1]) : 10;
	printf("%ld ", fibonacci(size + 27));
	printf("%d ", takeuchi(size + 12, size, size / 2));
	printf("%d\n", queens((1u << size) - 1, 0, 0, 0));
	return 0;
}
