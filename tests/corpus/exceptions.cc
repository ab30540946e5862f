// Exceptions in loops: caught inside and going on, caught outside, rethrown, thrown from inlined calls.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "loop.h"

static volatile unsigned limit = 1000;

struct small_error {
	unsigned value;
};

NOINLINE unsigned may_throw(unsigned x)
{
	if (x % 5 == 4)
		throw small_error{x};
	if (x > limit)
		throw std::runtime_error("limit");
	return x * 3;
}

static inline unsigned check(unsigned x)
{
	if (x % 7 == 6)
		throw small_error{x + 1};
	return x + 1;
}

NOINLINE unsigned catch_and_go_on(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(go_on, 1);
		try {
			sum += may_throw(i);
		} catch (const small_error &e) {
			sum ^= e.value;
			continue;
		} catch (const std::exception &) {
			sum += 100;
		}
		sum = sum * 3 + 1;
	}
	return sum;
}

NOINLINE unsigned caught_outside(unsigned n)
{
	unsigned sum = 0;

	try {
		for (unsigned i = 0;; i++) { LOOP(outside, 1);
			sum += may_throw(n + i);
		}
	} catch (const small_error &e) {
		sum += e.value;
	}
	return sum;
}

NOINLINE unsigned retry(unsigned n)
{
	unsigned tries = 0;

	while (true) { LOOP(retry, 1);
		try {
			tries++;
			return may_throw(n) + tries;
		} catch (const small_error &) {
			n++;
		}
	}
}

NOINLINE unsigned rethrow(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(rethrow_outer, 1);
		try {
			for (unsigned j = i; j < n; j++) { LOOP(rethrow_inner, 2);
				try {
					sum += may_throw(j);
				} catch (const small_error &e) {
					if (e.value > n / 2)
						throw;
					sum++;
				}
			}
		} catch (const small_error &e) {
			sum ^= e.value << 2;
		}
	}
	return sum;
}

NOINLINE unsigned from_inlined(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(from_inlined, 1);
		try {
			sum = sum * 3 + check(i);
		} catch (const small_error &e) {
			sum -= e.value;
		}
	}
	return sum;
}

NOINLINE unsigned loop_in_handler(unsigned n)
{
	unsigned sum = 0;

	try {
		sum = may_throw(n * 5 + 4);
	} catch (const small_error &e) {
		for (unsigned i = 0; i < e.value; i++) { LOOP(in_handler, 1);
			sum = sum * 3 + i;
		}
	}
	return sum;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? unsigned(atoi(argv[1])) : 23;
	unsigned sum = catch_and_go_on(n) + caught_outside(n) + retry(n * 5 + 4) + rethrow(n);

	printf("%u\n", sum * 3 + from_inlined(n) + loop_in_handler(n));
	return 0;
}
