/* Leaf and non-leaf functions, recursion, mutual recursion, arguments on the stack. */
#include "victim.h"

SEPARATE static u64 leaf(u64 a)
{
	return a * 3 + 1;
}

SEPARATE static u64 two_leaves(u64 a, u64 b)
{
	return leaf(a) + leaf(b) * 5;
}

SEPARATE static u64 fibonacci(u64 n)
{
	return n < 2 ? n + opaque : fibonacci(n - 1) + fibonacci(n - 2);
}

SEPARATE static u64 ackermann(u64 m, u64 n)
{
	if (!m)
		return n + 1 + opaque;
	if (!n)
		return ackermann(m - 1, 1);
	return ackermann(m - 1, ackermann(m, n - 1));
}

static u64 odd(u64 n);

SEPARATE static u64 even(u64 n)
{
	return n ? mix(n, odd(n - 1)) : 1;
}

SEPARATE static u64 odd(u64 n)
{
	return n ? mix(n, even(n - 1)) + leaf(n) : 2;
}

SEPARATE static u64 many(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h, u64 i, u64 j,
			 u64 k)
{
	return leaf(a + b) - c * d + (e ^ f) + leaf(g) * h + (i | j) + k;
}

SEPARATE static u64 pass_many(u64 a)
{
	u64 sum = 0;
	for (u64 i = 0; i < 4; i++)
		sum = mix(sum, many(a, i, a + 1, i + 2, a + 3, 5, i, 7, a, i * 9, sum));
	return sum;
}

SEPARATE static u64 deep(u64 n)
{
	volatile u64 local[3] = {n, opaque, 3};
	return n ? deep(n - 1) + local[0] : local[2];
}

u64 victim_calls(void)
{
	u64 sum = two_leaves(1 + opaque, 2);
	sum = mix(sum, fibonacci(9));
	sum = mix(sum, ackermann(2, 2));
	sum = mix(sum, even(11));
	sum = mix(sum, pass_many(sum));
	return mix(sum, deep(60));
}
