/* for, while and do loops, alone and nested up to four deep. */
#include <stdio.h>
#include <stdlib.h>

#include "loop.h"

static unsigned cells[64];

NOINLINE unsigned count_up(unsigned n)
{
	unsigned sum = 1;

	for (unsigned i = 0; i < n; i++) { LOOP(up, 1);
		sum = sum * 31 + (cells[i & 63] ^ i);
	}
	return sum;
}

NOINLINE unsigned count_down(unsigned n)
{
	unsigned sum = 7;

	while (n-- > 0) { LOOP(down, 1);
		sum ^= sum << 5 ^ n;
		cells[n & 63] += sum;
	}
	return sum;
}

NOINLINE unsigned at_least_once(unsigned n)
{
	unsigned steps = 0;

	do { LOOP(once, 1); steps += n & 3;
		n = n & 1 ? 3 * n + 1 : n / 2;
		steps++;
	} while (n > 1 && steps < 1000);
	return steps;
}

NOINLINE unsigned two_deep(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(two_outer, 1);
		for (unsigned j = i; j < n; j++) { LOOP(two_inner, 2);
			sum += cells[(i * j) & 63] ^ j;
		}
		cells[i & 63] = sum;
	}
	return sum;
}

NOINLINE unsigned three_deep(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(three_1, 1);
		unsigned j = n;
		while (j > i) { LOOP(three_2, 2);
			unsigned k = 0;
			do { LOOP(three_3, 3); sum = sum * 5 + cells[k & 63];
				k += j;
			} while (k < n * 2);
			j--;
		}
		sum ^= j;
	}
	return sum;
}

NOINLINE unsigned four_deep(unsigned n)
{
	unsigned sum = 0;

	for (unsigned a = 0; a < n; a++) { LOOP(four_1, 1);
		for (unsigned b = 0; b < a; b++) { LOOP(four_2, 2);
			for (unsigned c = 0; c < b; c++) { LOOP(four_3, 3);
				for (unsigned d = 0; d < c; d++) { LOOP(four_4, 4);
					sum += cells[(a + b * c - d) & 63] * d + 1;
				}
				sum ^= c;
			}
			cells[b & 63] ^= sum;
		}
	}
	return sum;
}

NOINLINE unsigned siblings(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(sib_outer, 1);
		for (unsigned j = 0; j < i; j++) { LOOP(sib_first, 2);
			sum += cells[j & 63];
		}
		for (unsigned j = i; j > 0; j /= 2) { LOOP(sib_second, 2);
			sum ^= cells[j & 63] << 1;
		}
	}
	for (unsigned i = n; i > 0; i--) { LOOP(sib_third, 1);
		cells[i & 63] = sum + i;
	}
	return sum;
}

NOINLINE double floating(unsigned n)
{
	double x = 0.5;

	for (double t = 0; t < n; t += 1.5) { LOOP(floating, 1);
		x = x * 0.75 + t;
	}
	return x;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 11;
	unsigned sum = count_up(n * 9) + count_down(n * 5) + at_least_once(n * 27);

	sum = sum * 3 + two_deep(n) + three_deep(n) + four_deep(n) + siblings(n);
	printf("%u %.3f\n", sum, floating(n));
	return 0;
}
