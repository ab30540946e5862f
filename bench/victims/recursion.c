/* A loop that calls its own function again: its total counts each moment once, however deep;
 * beside it a plain loop. */
#include "truth.h"

/* Spins at each level, and from a loop goes down to the next. */
SEPARATE static u64 descend(u64 x, u64 n, int depth)
{
	for (int i = 0; i < 3; i++) {
		SPIN(x, n);
		if (depth)
			x += descend(x, n, depth - 1);
	}
	return x;
}
SEPARATE static u64 plain(u64 x, u64 n)
{
	SPIN(x, n);
	return x + n;
}

int main(int argc, char **argv)
{
	double limit = argc > 1 ? atof(argv[1]) : 1, took[2] = {0};
	u64 x = 1;
	while (took[0] + took[1] < limit) {
		double a = thread_seconds();
		x = descend(x, 4000, 4);
		double b = thread_seconds();
		x = plain(x, 363 * 4000 / 2);
		double c = thread_seconds();
		took[0] += b - a;
		took[1] += c - b;
	}
	tell("descend", 0, "any", took[0]);
	tell("plain", 0, "any", took[1]);
	return x == 0;
}
