/* Loops whose condition or step is an inlined call, and loops over linked data. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "loop.h"

struct node {
	struct node *next;
	unsigned value;
};

struct cursor {
	const unsigned *at, *end;
	unsigned value;
};

static unsigned cells[100];

INLINE bool cursor_next(struct cursor *c)
{
	if (c->at == c->end)
		return false;
	c->value = *c->at++;
	return true;
}

INLINE bool keep_going(unsigned a, unsigned b)
{
	return a * a < b + 1000;
}

INLINE unsigned advance(unsigned x)
{
	return x + (cells[x % 100] & 3) + 1;
}

INLINE bool has_divisor(unsigned n)
{
	for (unsigned d = 2; d * d <= n; d++) { LOOP(divisor, 1);
		if (n % d == 0)
			return true;
	}
	return false;
}

NOINLINE unsigned iterate(unsigned n)
{
	struct cursor c = {cells, cells + n, 0};
	unsigned sum = 0;

	while (cursor_next(&c)) { LOOP(iterate, 1);
		sum = sum * 3 + c.value;
	}
	return sum;
}

NOINLINE unsigned by_predicate(unsigned n)
{
	unsigned i = 0;

	for (i = 0; keep_going(i, n); i++) { LOOP(by_predicate, 1);
		cells[i % 100] += i;
	}
	return i + cells[3];
}

NOINLINE unsigned by_step(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i = advance(i)) { LOOP(by_step, 1);
		sum ^= cells[i % 100] * 3;
	}
	return sum;
}

NOINLINE unsigned next_prime(unsigned n)
{
	while (has_divisor(n)) { LOOP(next_prime, 1, shared);
		n += 2;
	}
	return n;
}

NOINLINE unsigned walk(const struct node *list)
{
	unsigned sum = 0;

	for (const struct node *p = list; p; p = p->next) { LOOP(walk, 1);
		sum = sum * 5 + p->value;
	}
	return sum;
}

NOINLINE struct node *reverse(struct node *list)
{
	struct node *done = NULL;

	while (list) { LOOP(reverse, 1);
		struct node *next = list->next;
		list->next = done;
		done = list;
		list = next;
	}
	return done;
}

NOINLINE bool two_cursors(unsigned n)
{
	struct cursor a = {cells, cells + n, 0};

	while (cursor_next(&a)) { LOOP(cursor_outer, 1);
		struct cursor b = {a.at, cells + n, 0};
		while (cursor_next(&b)) { LOOP(cursor_inner, 2);
			if (a.value == b.value)
				return true;
		}
	}
	return false;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 60;
	struct node *nodes = calloc(n, sizeof(*nodes)), *list = NULL;

	for (unsigned i = 0; i < n; i++) { LOOP(build, 1);
		nodes[i] = (struct node){list, i * i};
		list = &nodes[i];
	}
	unsigned sum = iterate(n) + by_predicate(n) + by_step(n) + next_prime(n * 12 + 1);
	sum = sum * 3 + walk(list) + walk(reverse(list)) + two_cursors(n);
	printf("%u\n", sum);
	free(nodes);
	return 0;
}
