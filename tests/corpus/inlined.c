/* Loops in functions that are inlined: one to three levels, from several call sites, inside loops. */
#include <stdio.h>
#include <stdlib.h>

#include "loop.h"

static unsigned cells[64];

INLINE unsigned sum_row(const unsigned *row, unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(row, 1);
		sum += row[i & 63] * (i + 1);
	}
	return sum;
}

INLINE unsigned sum_rows(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(rows, 1);
		sum ^= sum_row(cells + i % 8, n - i);
	}
	return sum;
}

INLINE unsigned sum_planes(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 1; i < n; i++) { LOOP(planes, 1);
		sum += sum_rows(i);
		cells[i & 63] ^= sum;
	}
	return sum;
}

NOINLINE unsigned one_level(unsigned n)
{
	return sum_row(cells, n) + 1;
}

NOINLINE unsigned two_sites(unsigned n)
{
	unsigned a = sum_row(cells, n);
	unsigned b = sum_row(cells + 1, n / 2);

	return a * 3 ^ b;
}

NOINLINE unsigned in_loop(unsigned n)
{
	unsigned sum = 0;

	while (n > 0) { LOOP(in_loop, 1);
		sum += sum_row(cells, n);
		n /= 2;
	}
	return sum;
}

NOINLINE unsigned three_levels(unsigned n)
{
	unsigned sum = sum_planes(n);

	for (unsigned i = 0; i < n; i++) { LOOP(three_levels, 1);
		sum = sum * 3 + sum_planes(i);
	}
	return sum;
}

static unsigned plain_static(unsigned n)
{
	unsigned sum = n;

	do { LOOP(plain_static, 1); sum = sum * 33 + cells[n & 63];
		n--;
	} while (n > 2);
	return sum;
}

NOINLINE unsigned once_called(unsigned n)
{
	return plain_static(n) ^ 5;
}

static void add_to(unsigned *sum, unsigned v)
{
	*sum = *sum * 9 + v;
}

static void step(unsigned *sum, unsigned v)
{
	if (v & 1)
		add_to(sum, v);
	else
		add_to(sum, v / 2);
}

NOINLINE unsigned body_inlined(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(body_inlined, 1);
		step(&sum, i);
		step(&sum, cells[i & 63]);
	}
	return sum;
}

static unsigned branch_helper(unsigned n)
{
	if (n < 3)
		return 7;
	for (unsigned i = 3; i < n; i++) { LOOP(branch_helper, 1);
		cells[i & 63] += cells[(i - 3) & 63] ^ n;
	}
	return cells[n & 63];
}

NOINLINE unsigned partly_inlined(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(partly_inlined, 1);
		sum += branch_helper(i);
	}
	sum ^= branch_helper(sum & 31);
	return sum;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 14, sum = 0;

	for (unsigned i = 0; i < n * 5; i++) { LOOP(main_fill, 1);
		cells[i & 63] += i * n;
	}
	sum = one_level(n) + two_sites(n) + in_loop(n) + three_levels(n) + once_called(n);
	printf("%u\n", sum + body_inlined(n) * 3 + partly_inlined(n));
	return 0;
}
