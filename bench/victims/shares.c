/* Three loops in three functions: 10, 20 and 70 per cent. */
#include "truth.h"

SEPARATE static u64 first(u64 x, u64 n)
{
	SPIN(x, n);
	return x + n;
}
SEPARATE static u64 second(u64 x, u64 n)
{
	SPIN(x, n);
	return x * n;
}
SEPARATE static u64 third(u64 x, u64 n)
{
	SPIN(x, n);
	return x ^ n;
}

int main(int argc, char **argv)
{
	const u64 unit = 20000;
	double limit = argc > 1 ? atof(argv[1]) : 1, took[3] = {0};
	u64 x = 1;
	while (took[0] + took[1] + took[2] < limit) {
		double a = thread_seconds();
		x = first(x, 10 * unit);
		double b = thread_seconds();
		x = second(x, 20 * unit);
		double c = thread_seconds();
		x = third(x, 70 * unit);
		double d = thread_seconds();
		took[0] += b - a;
		took[1] += c - b;
		took[2] += d - c;
	}
	tell("first", 0, "any", took[0]);
	tell("second", 0, "any", took[1]);
	tell("third", 0, "any", took[2]);
	return x == 0;
}
