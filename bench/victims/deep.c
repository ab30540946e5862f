/* One loop at the end of 300 calls, reached through two functions: 25 and 75 per cent. */
#include "truth.h"

enum { DEPTH = 300 };

SEPARATE static u64 bottom(u64 x, u64 n)
{
	SPIN(x, n);
	return x + n;
}
SEPARATE static u64 down(u64 x, u64 n, int depth)
{
	return (depth ? down(x, n, depth - 1) : bottom(x, n)) + 1;
}
SEPARATE static u64 left(u64 x, u64 n)
{
	return down(x, n, DEPTH) + 3;
}
SEPARATE static u64 right(u64 x, u64 n)
{
	return down(x, n, DEPTH) + 5;
}

int main(int argc, char **argv)
{
	const u64 unit = 20000;
	double limit = argc > 1 ? atof(argv[1]) : 1, took[2] = {0};
	u64 x = 1;
	while (took[0] + took[1] < limit) {
		double a = thread_seconds();
		x = left(x, 25 * unit);
		double b = thread_seconds();
		x = right(x, 75 * unit);
		double c = thread_seconds();
		took[0] += b - a;
		took[1] += c - b;
	}
	tell("bottom", 0, "left", took[0]);
	tell("bottom", 0, "right", took[1]);
	tell("bottom", 0, "any", took[0] + took[1]);
	return x == 0;
}
