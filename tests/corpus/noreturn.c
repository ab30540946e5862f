/* Calls that do not return, in and around loops: without knowing them, code that follows would seem part of
 * the loop, or loops would seem to fall into the next function. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "loop.h"

static unsigned cells[64];

NOINLINE __attribute__((noreturn)) void die(const char *why, unsigned n)
{
	fprintf(stderr, "%s: %u\n", why, n);
	exit(3);
}

/* Not declared so: only the code tells. */
NOINLINE void die_silently(unsigned n)
{
	if (n > 10)
		die("big", n);
	abort();
}

NOINLINE __attribute__((noreturn)) void spin(unsigned n)
{
	for (;;) { LOOP(spin, 1);
		if (cells[n++ & 63] == 12345)
			exit(0);
	}
}

NOINLINE unsigned checked(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(checked, 1);
		if (cells[i & 63] > 1000000)
			die("cell", i);
		sum += cells[i & 63];
	}
	return sum;
}

NOINLINE unsigned asserted(unsigned n)
{
	unsigned sum = 0;

	while (n > 0) { LOOP(asserted, 1);
		assert(cells[n & 63] < 1000001);
		sum = sum * 3 + n--;
	}
	return sum;
}

NOINLINE unsigned undeclared(unsigned n)
{
	unsigned sum = 0;

	do { LOOP(undeclared, 1); sum ^= cells[n & 63] + n;
		if (sum == 0xdeadbeef)
			die_silently(n);
		n--;
	} while (n > 1);
	return sum;
}

NOINLINE unsigned dies_last(unsigned n)
{
	for (unsigned i = n; i > 0; i--) { LOOP(dies_last, 1);
		for (unsigned j = i; j < n; j++) { LOOP(dies_inner, 2);
			if (cells[(i + j) & 63] == i * j)
				return i * j;
		}
	}
	die("nothing found", n);
}

NOINLINE unsigned trapped(unsigned n)
{
	unsigned sum = 1;

	for (unsigned i = 0; i < n; i++) { LOOP(trapped, 1);
		if (cells[i & 63] == 77777777)
			__builtin_trap();
		sum = sum * 5 + i;
	}
	return sum;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 20;

	for (unsigned i = 0; i < n * 3; i++) { LOOP(main_fill, 1);
		cells[i & 63] = i * 3;
	}
	if (n > 1000)
		spin(n);
	printf("%u\n", checked(n) + asserted(n) + undeclared(n) + dies_last(n) + trapped(n));
	return 0;
}
