/* Loops that are vectorised, unrolled, split, interchanged or turned into calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loop.h"

enum { MAX = 1024 };

static float fa[MAX], fb[MAX], fc[MAX];
static int ia[MAX];
static unsigned char bytes[MAX];
static double m1[40][40], m2[40][40], m3[40][40];

NOINLINE void saxpy(unsigned n, float k)
{
	for (unsigned i = 0; i < n; i++) { LOOP(saxpy, 1);
		fc[i] = fa[i] * k + fb[i];
	}
}

NOINLINE int reduce(unsigned n)
{
	int sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(reduce, 1);
		sum += ia[i] ^ (int)i;
	}
	return sum;
}

NOINLINE void clear(unsigned n)
{
	for (unsigned i = 0; i < n; i++) { LOOP(clear, 1);
		bytes[i] = 0;
	}
}

NOINLINE void copy(float *to, const float *from, unsigned n)
{
	for (unsigned i = 0; i < n; i++) { LOOP(copy, 1);
		to[i] = from[i];
	}
}

NOINLINE void multiply(unsigned n)
{
	for (unsigned i = 0; i < n; i++) { LOOP(mul_i, 1);
		for (unsigned j = 0; j < n; j++) { LOOP(mul_j, 2);
			double sum = 0;
			for (unsigned k = 0; k < n; k++) { LOOP(mul_k, 3);
				sum += m1[i][k] * m2[k][j];
			}
			m3[i][j] = sum;
		}
	}
}

NOINLINE void stencil(unsigned n)
{
	for (unsigned i = 1; i + 1 < n; i++) { LOOP(stencil_i, 1);
		for (unsigned j = 1; j + 1 < n; j++) { LOOP(stencil_j, 2);
			m1[i][j] = (m3[i - 1][j] + m3[i + 1][j] + m3[i][j - 1] + m3[i][j + 1]) / 4;
		}
	}
}

NOINLINE unsigned conditional(unsigned n)
{
	unsigned count = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(conditional, 1);
		if (bytes[i] > 10)
			count++;
		else
			bytes[i] += 3;
	}
	return count;
}

NOINLINE unsigned constant_trip(const unsigned char *p)
{
	unsigned sum = 0;

	for (int i = 0; i < 4; i++) { LOOP(constant_trip, 1, maybe);
		sum = sum * 16 + p[i];
	}
	return sum;
}

NOINLINE unsigned unswitched(unsigned n, int mode)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(unswitched, 1);
		if (mode == 1)
			sum += bytes[i];
		else if (mode == 2)
			sum ^= bytes[i] << (i & 7);
		else
			sum = sum * 3 + (unsigned)ia[i];
	}
	return sum;
}

NOINLINE void strided(unsigned n, unsigned stride)
{
	for (unsigned i = 0; i < n; i += stride) { LOOP(strided, 1);
		ia[i] += (int)(i * 3);
		fa[i] = (float)ia[i] * 0.5f;
	}
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 37;

	for (unsigned i = 0; i < MAX; i++) { LOOP(init, 1, maybe);
		fa[i] = (float)(i % n);
		fb[i] = (float)(i * n % 19);
		ia[i] = (int)(i * 7 % n);
	}
	for (unsigned i = 0; i < n; i++) { LOOP(init_i, 1);
		for (unsigned j = 0; j < n; j++) { LOOP(init_j, 2);
			m1[i][j] = i + j;
			m2[i][j] = (double)i - j;
		}
	}
	saxpy(n * 20, 1.5f);
	clear(n);
	copy(fa, fc, n * 20);
	multiply(n);
	stencil(n);
	strided(n * 20, 3);
	unsigned sum = (unsigned)reduce(n * 20) + conditional(n * 10) + constant_trip(bytes + n);
	sum += unswitched(n, (int)n % 3) + (unsigned)fa[n] + (unsigned)m1[3][4];
	printf("%u\n", sum);
	return 0;
}
