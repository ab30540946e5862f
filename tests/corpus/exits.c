/* Loops left early and loops with several back edges. */
#include <stdio.h>
#include <stdlib.h>

#include "loop.h"

static unsigned cells[256];

NOINLINE int find(unsigned n, unsigned wanted)
{
	for (unsigned i = 0; i < n; i++) { LOOP(find, 1);
		if (cells[i & 255] == wanted)
			return (int)i;
	}
	return -1;
}

NOINLINE unsigned with_break(unsigned n)
{
	unsigned sum = 0;

	for (;;) { LOOP(forever, 1);
		sum += cells[n & 255] | 1;
		if (sum > 100000)
			break;
		n = n * 17 + 3;
	}
	return sum;
}

NOINLINE unsigned with_continue(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(skip, 1);
		if (cells[i & 255] % 3 == 0)
			continue;
		if (cells[i & 255] % 5 == 0) {
			sum += 2;
			continue;
		}
		sum = sum * 2 + cells[i & 255];
		cells[(i + 1) & 255] ^= sum;
	}
	return sum;
}

NOINLINE unsigned back_edges(unsigned n)
{
	unsigned sum = 1;

	while (n > 1) { LOOP(many, 1);
		if (n % 7 == 0) {
			n /= 7;
			sum += 3;
			continue;
		}
		if (n % 2 == 0) {
			n /= 2;
			continue;
		}
		sum ^= n;
		n = (n - 1) / 2;
	}
	return sum;
}

NOINLINE unsigned shared_header(unsigned n)
{
	unsigned sum = 0, i = 0, j = 0;

outer:
	LOOP(head_outer, 1, multi);
	if (i >= n)
		return sum;
	if (j < i) {
		sum += cells[(i + j) & 255];
		j++;
		goto outer;
	}
	j = 0;
	i++;
	sum ^= i;
	goto outer; /*END head_outer*/
}

NOINLINE unsigned leave_two(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(leave_outer, 1);
		for (unsigned j = 0; j < n; j++) { LOOP(leave_inner, 2);
			sum += cells[(i ^ j) & 255];
			if (sum % 1013 == 7)
				goto done;
		}
		sum++;
	}
done:
	return sum;
}

NOINLINE unsigned continue_outer(unsigned n)
{
	unsigned primes = 0;

	for (unsigned i = 2; i < n; i++) { LOOP(prime, 1);
		for (unsigned j = 2; j * j <= i; j++) { LOOP(divisor, 2);
			if (i % j == 0)
				goto next;
		}
		primes += i;
next:;
	}
	return primes;
}

NOINLINE unsigned goto_loop(unsigned n)
{
	unsigned sum = 0, i = 0;

again:
	sum += cells[i & 255]; LOOP(goto_loop, 1);
	if (++i < n)
		goto again; /*END goto_loop*/
	return sum;
}

NOINLINE unsigned middle_test(unsigned n)
{
	unsigned sum = 0;

	while (1) { LOOP(middle, 1);
		sum = sum * 3 + n;
		if (n-- == 0)
			break;
		cells[n & 255] += sum;
	}
	return sum;
}

NOINLINE unsigned return_inside(unsigned n)
{
	for (unsigned i = n;; i++) { LOOP(ret_outer, 1);
		unsigned x = i;
		while (x != 1) { LOOP(ret_inner, 2);
			if (x % 2)
				x = x * 3 + 1;
			else
				x /= 2;
			if (x == 40)
				return i;
		}
		cells[i & 255]++;
	}
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 41, sum = 0;

	for (unsigned i = 0; i < 256; i++) { LOOP(fill, 1, maybe);
		cells[i] = i * n % 97;
	}
	sum += (unsigned)find(200, n) + with_break(n) + with_continue(n) + back_edges(n * 98);
	sum = sum * 7 + shared_header(n) + leave_two(n) + continue_outer(n * 3) + goto_loop(n);
	printf("%u\n", sum * 7 + middle_test(n) + return_inside(n));
	return 0;
}
