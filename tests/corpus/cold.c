/* Loops whose unlikely parts are moved away: cold blocks that come back into the loop, cold loops. */
#include <stdio.h>
#include <stdlib.h>

#include "loop.h"

#define unlikely(x) __builtin_expect(!!(x), 0)

static unsigned cells[64], errors;

NOINLINE __attribute__((cold)) void complain(unsigned what)
{
	errors += what;
	if (errors > 1000000)
		fprintf(stderr, "%u errors\n", errors);
}

NOINLINE unsigned comes_back(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(comes_back, 1);
		if (unlikely(cells[i & 63] == 99)) {
			complain(i);
			sum ^= errors;
		}
		sum += cells[i & 63];
	}
	return sum;
}

NOINLINE unsigned leaves(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(leaves, 1);
		if (unlikely(cells[i & 63] == 98)) {
			complain(i);
			complain(sum);
			return errors;
		}
		sum = sum * 3 + cells[i & 63];
	}
	return sum;
}

NOINLINE unsigned cold_loop(unsigned n)
{
	unsigned sum = n;

	if (unlikely(cells[n & 63] == 97)) {
		complain(n);
		for (unsigned i = 0; i < n; i++) { LOOP(cold_loop, 1);
			complain(i);
			sum += errors;
		}
	}
	return sum;
}

NOINLINE unsigned nested_cold(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(nested_hot, 1);
		if (unlikely(cells[i & 63] == 96)) {
			for (unsigned j = 0; j < i; j++) { LOOP(nested_cold, 2);
				complain(j);
			}
		}
		sum ^= cells[i & 63] * 7;
	}
	return sum;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 50;

	for (unsigned i = 0; i < n; i++) { LOOP(main_fill, 1);
		cells[i & 63] = i * 3 + 60;
	}
	printf("%u\n", comes_back(n) + leaves(n) + cold_loop(n) + nested_cold(n) + errors);
	return 0;
}
