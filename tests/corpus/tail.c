/* Self recursion that becomes a loop, and tail calls out of loops. */
#include <stdio.h>
#include <stdlib.h>

#include "loop.h"

static unsigned cells[64];

NOINLINE unsigned factorial(unsigned n, unsigned acc)
{ LOOP(factorial, 1, tail);
	if (n < 2)
		return acc;
	cells[n & 63] += acc;
	return factorial(n - 1, acc * n);
}

NOINLINE unsigned gcd(unsigned a, unsigned b)
{ LOOP(gcd, 1, tail);
	return b == 0 ? a : gcd(b, a % b);
}

unsigned is_odd(unsigned n);

NOINLINE unsigned is_even(unsigned n)
{
	return n == 0 ? 1 : is_odd(n - 1);
}

NOINLINE unsigned is_odd(unsigned n)
{
	return n == 0 ? 0 : is_even(n - 1);
}

NOINLINE unsigned finish(unsigned n)
{
	return cells[n & 63] * 3;
}

NOINLINE unsigned then_tail(unsigned n)
{
	for (unsigned i = 0; i < n; i++) { LOOP(then_tail, 1);
		cells[i & 63] ^= i;
	}
	return finish(n);
}

NOINLINE unsigned tail_inside(unsigned n)
{
	while (n > 1) { LOOP(tail_inside, 1);
		if (cells[n & 63] == n)
			return finish(n);
		if (n % 5 == 0)
			return then_tail(n);
		n = n % 2 ? n * 3 + 1 : n / 2;
	}
	return finish(1);
}

NOINLINE unsigned tree(unsigned depth, unsigned seed)
{ LOOP(tree, 1, tail);
	if (depth == 0)
		return seed;
	seed += tree(depth - 1, seed * 3);
	return tree(depth - 1, seed + 1);
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 13, sum;

	sum = factorial(n, 1) + gcd(n * 36, 48) + is_even(n) + then_tail(n) + tail_inside(n);
	printf("%u\n", sum + tree(n % 9, n));
	return 0;
}
