/* Loops in functions that call themselves and each other: each activation has trips of its own. */
#include "truth.h"

KEEP u64 recurse_tree(u64 depth)
{
	LOOP(tree);
	u64 x = depth;
	CALLED(recurse_tree);
	ENTER(tree);
	for (u64 i = 0; i < depth; i++) {
		ITER(tree);
		x = x * 3 + recurse_tree(i);
	}
	LEAVE(tree);
	return x;
}

/* A loop before the call and one behind, in one frame. */
KEEP u64 recurse_sandwich(u64 n)
{
	LOOP(before);
	LOOP(behind);
	u64 x = n;
	CALLED(recurse_sandwich);
	ENTER(before);
	for (u64 i = 0; i < n % 4; i++) {
		ITER(before);
		x += i;
		BARRIER();
	}
	LEAVE(before);
	if (n)
		x = x * 7 + recurse_sandwich(n - 1);
	ENTER(behind);
	for (u64 i = 0; i < n % 3; i++) {
		ITER(behind);
		x ^= i << 5;
		BARRIER();
	}
	LEAVE(behind);
	return x;
}

KEEP u64 recurse_odd(u64 n);

KEEP u64 recurse_even(u64 n)
{
	LOOP(even);
	u64 x = n;
	CALLED(recurse_even);
	ENTER(even);
	for (u64 i = 1; i <= n; i += 2) {
		ITER(even);
		x = x * 5 + recurse_odd(n - i);
	}
	LEAVE(even);
	return x;
}

KEEP u64 recurse_odd(u64 n)
{
	LOOP(odd);
	u64 x = n, i = 1;
	CALLED(recurse_odd);
	ENTER(odd);
	while (i < n) {
		ITER(odd);
		x = x * 11 + recurse_even(n - ++i);
	}
	LEAVE(odd);
	return x;
}

/* Deep, through a loop: the way down is one iteration of each. */
KEEP u64 recurse_deep(u64 n)
{
	LOOP(deep);
	u64 x = n;
	CALLED(recurse_deep);
	ENTER(deep);
	for (u64 i = 0; n && i < 2; i++) {
		ITER(deep);
		if (i == n % 2)
			x = x * 3 + recurse_deep(n - 1);
	}
	LEAVE(deep);
	return x;
}

KEEP u64 recurse_ackermann(u64 m, u64 n)
{
	CALLED(recurse_ackermann);
	if (!m)
		return n + 1;
	u64 x = n ? recurse_ackermann(m, n - 1) : 1;
	OPAQUE(x);
	x = recurse_ackermann(m - 1, x);
	OPAQUE(x);
	return x;
}

u64 victim_recursion(void)
{
	u64 sum = recurse_tree(9);
	for (u64 i = 0; i < 12; i++) {
		sum = sum * 31 + recurse_sandwich(i * 3);
		sum ^= recurse_even(i);
	}
	sum += recurse_ackermann(2, 6);
	sum += recurse_deep(3);
	return sum * 3 + recurse_deep(50000);
}
