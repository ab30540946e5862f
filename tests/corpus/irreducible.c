/* Regions with several entries, made by gotos, and reducible loops inside and around them. */
#include <stdio.h>
#include <stdlib.h>

#include "loop.h"

static unsigned cells[64];

NOINLINE unsigned two_entries(unsigned n)
{
	unsigned sum = 0;

	if (n & 1)
		goto second;
first:
	sum += cells[n & 63]; LOOP(two_entries, 1, irreducible);
	if (sum % 3 == 0)
		cells[n & 63]++;
second:
	sum = sum * 5 + n;
	if (n-- > 0)
		goto first; /*END two_entries*/
	return sum;
}

NOINLINE unsigned into_body(unsigned n)
{
	unsigned sum = 1, i = 0;

	if (n % 4 == 2)
		goto inside;
	for (i = 0; i < n; i++) { LOOP(into_body, 1, irreducible);
		sum ^= cells[i & 63];
inside:
		cells[i & 63] += sum;
		sum *= 3;
	}
	return sum;
}

NOINLINE unsigned with_loop_inside(unsigned n)
{
	unsigned sum = 0, k = n;

	if (n & 2)
		goto lower;
upper:
	sum++; LOOP(around, 1, irreducible);
	for (unsigned i = 0; i < k; i++) { LOOP(inside_irreducible, 2);
		sum += cells[i & 63] ^ k;
	}
lower:
	sum ^= k << 2;
	if (k-- > 1)
		goto upper; /*END around*/
	return sum;
}

NOINLINE unsigned inside_loop(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(around_irreducible, 1);
		unsigned k = i;
		if (i & 1)
			goto low;
high:
		sum += cells[k & 63]; LOOP(nested_irreducible, 2, irreducible);
		k /= 2;
low:
		sum = sum * 3 + k;
		if (k > 2 && k--)
			goto high; /*END nested_irreducible*/
		cells[i & 63] ^= sum;
	}
	return sum;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 30;

	printf("%u\n", two_entries(n) + into_body(n) + with_loop_inside(n) + inside_loop(n));
	return 0;
}
