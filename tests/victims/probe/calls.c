/* Calls of every kind: nested, direct and mutual recursion, through pointers, tail calls direct,
 * indirect and mutual, many exits, exits by a call that does not come back. */
#include "victim.h"

KEEP u64 call_leaf(u64 x)
{
	CALLED("call_leaf");
	u64 y = mix(x);
	LEFT("call_leaf");
	return y;
}

KEEP u64 call_middle(u64 x)
{
	CALLED("call_middle");
	u64 y = call_leaf(x) + call_leaf(x + 1);
	LEFT("call_middle");
	return y;
}

KEEP u64 call_outer(u64 x)
{
	CALLED("call_outer");
	u64 y = call_middle(x) ^ call_middle(x + 7);
	LEFT("call_outer");
	return y;
}

KEEP u64 call_recursive(u64 x, unsigned depth)
{
	CALLED("call_recursive");
	u64 y = depth ? call_recursive(mix(x), depth - 1) + depth : x;
	LEFT("call_recursive");
	return y;
}

KEEP u64 call_fibonacci(unsigned n)
{
	CALLED("call_fibonacci");
	if (n < 2)
		return n;
	u64 x = call_fibonacci(n - 1) + call_fibonacci(n - 2);
	BARRIER(); /* none of the two is made a loop */
	return x + 1;
}

KEEP u64 call_odd(u64 x, unsigned n);

KEEP u64 call_even(u64 x, unsigned n)
{
	CALLED("call_even");
	u64 y = n ? call_odd(x + n, n - 1) ^ n : x;
	LEFT("call_even");
	return y;
}

KEEP u64 call_odd(u64 x, unsigned n)
{
	CALLED("call_odd");
	u64 y = n ? call_even(x * 3, n - 1) + n : ~x;
	LEFT("call_odd");
	return y;
}

/* Nothing is left to do behind these calls: with optimisation they are jumps. */
KEEP u64 tail_last(u64 x)
{
	CALLED("tail_last");
	LEFT("tail_last");
	return mix(x);
}

KEEP u64 tail_direct(u64 x)
{
	CALLED("tail_direct");
	LEFT("tail_direct");
	return tail_last(x + 1);
}

static u64 (*volatile tail_pointer)(u64) = tail_direct;

KEEP u64 tail_indirect(u64 x)
{
	CALLED("tail_indirect");
	LEFT("tail_indirect");
	return tail_pointer(x ^ 5);
}

KEEP u64 tail_pong(u64 x, u64 n);

KEEP u64 tail_ping(u64 x, u64 n)
{
	CALLED("tail_ping");
	LEFT("tail_ping");
	if (!n)
		return x;
	return tail_pong(mix(x), n - 1);
}

KEEP u64 tail_pong(u64 x, u64 n)
{
	CALLED("tail_pong");
	LEFT("tail_pong");
	if (!n)
		return ~x;
	return tail_ping(x + n, n - 1);
}

KEEP u64 many_exits(u64 x)
{
	CALLED("many_exits");
	LEFT("many_exits");
	switch (x % 11) {
	case 0: return x;
	case 1: return mix(x);
	case 2: return tail_last(x);
	case 3: return x >> 3;
	case 4: return call_leaf(x) + 1;
	case 5: return x * x;
	case 6: return tail_indirect(x);
	case 7: return ~x;
	case 8: return x ^ 0x5555;
	case 9: return tail_direct(x);
	default: return x - 1;
	}
}

/* Short ones: on x86-64 there is hardly room for a jump. */
KEEP void short_nothing(void)
{
	CALLED("short_nothing");
}

KEEP u64 short_same(u64 x)
{
	return x;
}

KEEP u64 short_zero(void)
{
	return 0;
}

typedef u64 (*one)(u64);
static const one table[] = {call_leaf,   call_middle,   call_outer,
			    tail_direct, tail_indirect, short_same};

KEEP u64 call_by_pointer(u64 x)
{
	CALLED("call_by_pointer");
	u64 y = table[x % (sizeof(table) / sizeof(table[0]))](x);
	LEFT("call_by_pointer");
	return y;
}

u64 victim_calls(void)
{
	u64 sum = 0;
	CALLED("victim_calls");
	for (u64 i = 0; i < 200; i++) {
		sum = sum * 31 + call_outer(i);
		sum ^= call_by_pointer(i);
		sum += call_recursive(i, (unsigned)i % 20);
		sum ^= call_even(i, (unsigned)i % 9);
		sum += tail_indirect(i) ^ tail_ping(i, i % 30);
		sum += many_exits(i);
		short_nothing();
		sum += short_same(i) + short_zero();
	}
	sum += call_fibonacci(12);
	LEFT("victim_calls");
	return sum;
}
