/* Loops with setjmp and longjmp, alloca and variable-length arrays. */
#include <alloca.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loop.h"

static jmp_buf where;
static volatile unsigned jumps;

NOINLINE void jump_on(unsigned i)
{
	if (i % 3 == 2) {
		jumps++;
		longjmp(where, (int)i + 1);
	}
}

NOINLINE unsigned retry(unsigned n)
{
	volatile unsigned sum = 0;

	for (volatile unsigned i = 0; i < n; i++) { LOOP(retry, 1);
		if (setjmp(where) == 0)
			jump_on(i);
		else
			sum += i * 7;
		sum++;
	}
	return sum;
}

NOINLINE unsigned set_once(unsigned n)
{
	volatile unsigned i = 0, sum = 0;

	setjmp(where);
	while (i < n) { LOOP(set_once, 1);
		i++;
		sum += i;
		jump_on(i);
	}
	return sum;
}

NOINLINE unsigned with_alloca(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 1; i < n; i++) { LOOP(with_alloca, 1);
		unsigned char *p = alloca(i);
		memset(p, (int)i, i);
		sum += p[i / 2];
	}
	return sum;
}

NOINLINE unsigned with_array(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 1; i < n; i++) { LOOP(array_outer, 1);
		unsigned v[i];
		for (unsigned j = 0; j < i; j++) { LOOP(array_fill, 2);
			v[j] = i * j + 1;
		}
		for (unsigned j = i; j > 0; j--) { LOOP(array_sum, 2);
			sum = sum * 3 + v[j - 1];
		}
	}
	return sum;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 16;

	printf("%u\n", retry(n) + set_once(n) + jumps + with_alloca(n) + with_array(n));
	return 0;
}
