/* Tail calls, calls through tables of pointers, both together. */
#include "victim.h"

typedef u64 (*step)(u64 a, u64 b);

SEPARATE static u64 last(u64 a, u64 b)
{
	return a ^ b;
}

SEPARATE static u64 other(u64 a, u64 b)
{
	return last(a + 1, b) * 3;
}

SEPARATE static u64 by_tail(u64 a, u64 b)
{
	return last(b, a + opaque);
}

/* Has a frame that it takes down before the jump. */
SEPARATE static u64 work_then_tail(u64 a, u64 b)
{
	u64 x = other(a, b), y = other(b, x);
	if (x & 1)
		return by_tail(x, y);
	return last(x + y, a);
}

static const step steps[] = {last, other, by_tail, work_then_tail};

SEPARATE static u64 indirect_tail(u64 a, u64 b)
{
	return steps[a & 3](a, b);
}

SEPARATE static u64 through_table(u64 n)
{
	u64 sum = n;
	for (u64 i = 0; i < n; i++)
		sum = mix(sum, steps[(sum + i) & 3](sum, i));
	return sum;
}

SEPARATE static u64 ping(u64 n, u64 sum);

SEPARATE static u64 pong(u64 n, u64 sum)
{
	if (!n)
		return sum;
	return ping(n - 1, sum * 5 + opaque);
}

SEPARATE static u64 ping(u64 n, u64 sum)
{
	if (n & 4) {
		volatile u64 frame[8];
		frame[n & 7] = sum;
		sum = other(frame[n & 7], n);
	}
	return n ? pong(n - 1, sum + 1) : sum;
}

u64 victim_tails(void)
{
	u64 sum = work_then_tail(opaque + 3, 4);
	sum = mix(sum, through_table(12));
	for (u64 i = 0; i < 8; i++)
		sum = mix(sum, indirect_tail(sum, i));
	return mix(sum, ping(20, sum));
}
