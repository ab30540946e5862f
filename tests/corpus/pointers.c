/* Calls through pointers in loops; callbacks that are known after inlining. */
#include <stdio.h>
#include <stdlib.h>

#include "loop.h"

typedef unsigned (*op_fn)(unsigned, unsigned);

static unsigned op_add(unsigned a, unsigned b) { return a + b; }
static unsigned op_mix(unsigned a, unsigned b) { return a * 31 ^ b; }
static unsigned op_sub(unsigned a, unsigned b) { return a - b * 3; }

static op_fn volatile ops[] = {op_add, op_mix, op_sub};

struct visitor {
	unsigned (*visit)(struct visitor *v, unsigned x);
	unsigned seen;
};

static unsigned count_visit(struct visitor *v, unsigned x)
{
	return v->seen += x & 1;
}

NOINLINE unsigned fold(op_fn op, unsigned n)
{
	unsigned acc = 1;

	for (unsigned i = 0; i < n; i++) { LOOP(fold, 1);
		acc = op(acc, i);
	}
	return acc;
}

NOINLINE unsigned dispatch(unsigned n)
{
	unsigned acc = 5;

	for (unsigned i = 0; i < n; i++) { LOOP(dispatch_outer, 1);
		for (unsigned k = 0; k < 3 + i % 2; k++) { LOOP(dispatch_inner, 2, maybe);
			acc = ops[k % 3](acc, i);
		}
	}
	return acc;
}

NOINLINE unsigned visit_all(struct visitor *v, unsigned n)
{
	unsigned sum = 0;

	while (n-- > 0) { LOOP(visit_all, 1);
		sum += v->visit(v, n);
	}
	return sum;
}

INLINE unsigned apply(op_fn op, unsigned n, unsigned acc)
{
	for (unsigned i = 0; i < n; i++) { LOOP(apply, 1);
		acc = op(acc, i * 3);
	}
	return acc;
}

NOINLINE unsigned known_callback(unsigned n)
{
	unsigned acc = apply(op_mix, n, 1);

	return acc + apply(op_sub, n + 1, acc);
}

static int compare(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return x < y ? -1 : x > y;
}

NOINLINE unsigned sorted(unsigned n)
{
	unsigned *v = malloc(n * sizeof(*v)), sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(sort_fill, 1);
		v[i] = i * 2654435761u;
	}
	qsort(v, n, sizeof(*v), compare);
	for (unsigned i = 0; i < n; i++) { LOOP(sort_sum, 1);
		sum = sum * 3 + v[i];
	}
	free(v);
	return sum;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 17;
	struct visitor v = {count_visit, 0};

	printf("%u\n", fold(ops[n % 3], n) + dispatch(n) + visit_all(&v, n) + known_callback(n) + sorted(n));
	return 0;
}
