/* Loops outlined into functions of their own by OpenMP. */
#include <stdio.h>
#include <stdlib.h>

#include "loop.h"

static unsigned cells[4096];

NOINLINE unsigned fill(unsigned n)
{
	unsigned sum = 0;

#pragma omp parallel for
	for (unsigned i = 0; i < n; i++) { LOOP(omp_fill, 1);
		cells[i] = i * 7 ^ n;
	}
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 16)
	for (unsigned i = 0; i < n; i++) { LOOP(omp_dynamic, 1, split);
		for (unsigned j = 0; j < i % 32; j++) { LOOP(omp_inner, 2);
			sum += cells[(i + j) % n];
		}
	}
	return sum;
}

NOINLINE unsigned region(unsigned n)
{
	unsigned sum = 0;

#pragma omp parallel
	{ /*BODY*/
		unsigned own = 0;
		for (unsigned i = 0; i < n; i++) { LOOP(omp_region, 1);
			own += cells[i];
		}
#pragma omp critical
		sum |= own;
	}
	return sum;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 2000;
	unsigned sum = 0;

	for (unsigned k = 1; k < 4 + n % 2; k++) { LOOP(main_rounds, 1);
		sum = sum * 3 + fill(n / k) + region(n / k);
	}
	printf("%u\n", sum);
	return 0;
}
