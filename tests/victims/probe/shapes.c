/* Runs the hand-written functions, whose counts follow from their arguments. */
#include "victim.h"

u64 shape_header(u64 n, u64 zero);
u64 shape_tight(u64 n);
u64 shape_backs(u64 n);
u64 shape_while(u64 n);
u64 shape_shared(u64 n);
u64 shape_irreducible(u64 n, u64 x);
u64 shape_carry(u64 n);
u64 shape_flags(u64 a, u64 b);
u64 shape_registers(u64 n);
u64 shape_vectors(u64 n);
void shape_nothing(void);
u64 shape_after(u64 x);
u64 shape_cond_tail(u64 x);
u64 shape_relative(u64 x);
u64 shape_signed(u64 x);
u64 shape_exclusive(u64 *p, u64 n, u64 x);
u64 shape_compare(u64 *p, u64 old, u64 new);
u64 shape_frame(u64 x);
u64 shape_dispatch(u64 n);
u64 shape_short(u64 n) __attribute__((weak));
u64 shape_dispatch_far(u64 n) __attribute__((weak));
u64 shape_dispatch_kept(u64 n) __attribute__((weak));

#define LOOPED(name, entries, iterations)                                                          \
	do {                                                                                       \
		TRUTH("entered", name, entries);                                                   \
		TRUTH("iterated", name, iterations);                                               \
	} while (0)

/* The same steps as the assembly: how often the loop goes round. */
static u64 rounds_of_backs(u64 n)
{
	u64 x = 0, rounds = 0;
	for (;;) {
		rounds++;
		x += 3;
		if (!--n)
			return rounds;
		if (n & 1)
			continue;
		x += 5;
		if (!(n & 2))
			continue;
		x ^= 0xff;
		if (x > 1000)
			return rounds;
	}
}

static u64 run_loops(u64 n)
{
	u64 sum = shape_header(n, 0);
	LOOPED("shape_header@1", 1, n);
	CALLED("shape_header");
	LEFT("shape_header");
	sum = sum * 31 + shape_tight(n);
	LOOPED("shape_tight@1", 1, n);
	CALLED("shape_tight");
	sum = sum * 31 + shape_backs(n);
	LOOPED("shape_backs@1", 1, rounds_of_backs(n));
	sum = sum * 31 + shape_while(n - 1);
	LOOPED("shape_while@1", 1, n); /* the test is the header: once more than the body */
	sum = sum * 31 + shape_shared(n);
	LOOPED("shape_shared@1", 1, n);
	sum = sum * 31 + shape_irreducible(n, sum);
	sum = sum * 31 + shape_carry(n);
	LOOPED("shape_carry@1", 1, n);
	sum = sum * 31 + shape_registers(n);
	LOOPED("shape_registers@1", 1, n);
	sum = sum * 31 + shape_vectors(n);
	LOOPED("shape_vectors@1", 1, n);
	sum = sum * 31 + shape_dispatch(n - 1);
	LOOPED("shape_dispatch@1", n > 1, n - 1);
	CALLED("shape_dispatch");
	LEFT("shape_dispatch");
	if (shape_short)
		sum = sum * 31 + shape_short(n);
	if (shape_dispatch_far) {
		sum = sum * 31 + shape_dispatch_far(n - 1);
		LOOPED("shape_dispatch_far@1", n > 1, n - 1);
		sum = sum * 31 + shape_dispatch_kept(n - 1);
		LOOPED("shape_dispatch_kept@1", n > 1, n - 1);
	}
	return sum;
}

static u64 run_calls(u64 n)
{
	u64 sum = 0, cell = n;
	for (u64 i = 0; i < 8; i++) {
		sum = sum * 31 + shape_cond_tail(i);
		CALLED("shape_cond_tail");
		LEFT("shape_cond_tail");
		if (!i || i > 5 || i & 2)
			CALLED("shape_after");
	}
	sum = sum * 31 + shape_relative(n);
	CALLED("shape_relative");
	sum = sum * 31 + shape_signed(n);
	CALLED("shape_signed");
	LEFT("shape_signed");
	sum = sum * 31 + shape_frame(n);
	LOOPED("shape_frame@1", 1, 3);
	shape_nothing();
	TRUTH("calls", "shape_nothing", 2);
	TRUTH("left", "shape_nothing", 2);
	TRUTH("calls", "shape_after", 4);
	shape_exclusive(&cell, n, n + 1);
	sum = sum * 31 + cell;
	shape_compare(&cell, cell, 5);
	CALLED("shape_compare");
	sum = sum * 31 + shape_compare(&cell, 6, 7);
	CALLED("shape_compare");
	return sum * 31 + cell;
}

u64 victim_shapes(void)
{
	static const u64 numbers[] = {0, 1, 2, 1u << 31, UINT64_C(1) << 63, ~UINT64_C(0), 0x7fff};
	enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };
	u64 sum = 0;
	for (u64 n = 1; n < 50; n++) {
		sum = sum * 31 + run_loops(n);
		sum = sum * 31 + run_calls(n);
		sum = sum * 31 + shape_flags(numbers[n % NUMBERS], numbers[n / NUMBERS % NUMBERS]);
	}
	return sum;
}
