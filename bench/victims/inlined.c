/* The same three shares, in loops that are inlined: two levels deep, and one of them in two places,
 * so that the place tells the copies apart. */
#include "truth.h"

INLINED u64 spin_short(u64 x, u64 n)
{
	SPIN(x, n);
	return x + n;
}
INLINED u64 spin_long(u64 x, u64 n)
{
	SPIN(x, n);
	return x ^ n;
}
INLINED u64 wrapped(u64 x, u64 n)
{
	return spin_long(x, n) + 1;
}

SEPARATE static u64 once(u64 x, u64 n)
{
	return spin_short(x, n) + 3;
}
SEPARATE static u64 again(u64 x, u64 n)
{
	return spin_short(x, n) + 5;
}

int main(int argc, char **argv)
{
	const u64 unit = 20000;
	double limit = argc > 1 ? atof(argv[1]) : 1, took[3] = {0};
	u64 x = 1;
	while (took[0] + took[1] + took[2] < limit) {
		double a = thread_seconds();
		x = once(x, 10 * unit);
		double b = thread_seconds();
		x = again(x, 20 * unit);
		double c = thread_seconds();
		x = wrapped(x, 70 * unit);
		double d = thread_seconds();
		took[0] += b - a;
		took[1] += c - b;
		took[2] += d - c;
	}
	tell("spin_short", 0, "once", took[0]);
	tell("spin_short", 0, "again", took[1]);
	tell("spin_long", 0, "any", took[2]);
	return x == 0;
}
