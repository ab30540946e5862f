/* Tail calls: of itself, of each other, through pointers, out of loops. At -O0 they are calls. */
#include "truth.h"

KEEP u64 tail_end(u64 x)
{
	CALLED(tail_end);
	return x * 3 + 1;
}

KEEP u64 tail_odd(u64 n, u64 x);

KEEP u64 tail_even(u64 n, u64 x)
{
	CALLED(tail_even);
	return n ? tail_odd(n - 1, x * 3) : tail_end(x);
}

KEEP u64 tail_odd(u64 n, u64 x)
{
	CALLED(tail_odd);
	return n ? tail_even(n - 1, x + 1) : tail_end(x ^ 1);
}

/* Tells of a loop before it is left by a tail call, out of frames with and without calls. */
KEEP u64 tail_loop(u64 n, u64 at)
{
	LOOP(tailed);
	u64 x = 0;
	CALLED(tail_loop);
	ENTER(tailed);
	for (u64 i = 0; i < n; i++) {
		ITER(tailed);
		x = x * 5 + i;
		BARRIER();
		if (i == at) {
			LEAVE(tailed);
			return tail_end(x);
		}
	}
	LEAVE(tailed);
	return tail_even(n, x);
}

KEEP u64 tail_calling(u64 n, u64 at)
{
	LOOP(tailed_calling);
	u64 x = 0;
	CALLED(tail_calling);
	ENTER(tailed_calling);
	for (u64 i = 0; i < n; i++) {
		ITER(tailed_calling);
		x = x * 5 + tail_end(i);
		if (i == at) {
			LEAVE(tailed_calling);
			return tail_loop(x % 8, at);
		}
	}
	LEAVE(tailed_calling);
	return tail_odd(n, x);
}

typedef u64 binary(u64, u64);

static binary *const ways[] = {tail_even, tail_odd, tail_loop, tail_calling};

KEEP u64 tail_pointer(u64 n, u64 x)
{
	CALLED(tail_pointer);
	return ways[n % 4](n, x % 8);
}

u64 victim_tails(void)
{
	u64 sum = 0;
	for (u64 i = 0; i < 40; i++) {
		sum = sum * 31 + tail_pointer(i, i % 7);
		sum ^= tail_calling(i % 9, i % 5);
		sum += tail_even(i * 20, i);
	}
	return sum;
}
