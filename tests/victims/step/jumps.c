/* setjmp and longjmp: within a function, over several frames, again and again, from a tail call. */
#include <setjmp.h>

#include "victim.h"

static jmp_buf outer, inner;

SEPARATE static u64 helper(u64 a)
{
	return a * 3 + opaque;
}

SEPARATE static void deep(u64 n, int value)
{
	volatile u64 frame[4] = {n};
	if (!n)
		longjmp(outer, value);
	deep(n - 1, value);
	frame[1] = helper(frame[0]);
}

SEPARATE static void by_tail(int value)
{
	longjmp(inner, value);
}

SEPARATE static u64 nested(u64 n)
{
	volatile u64 count = 0;
	int got = setjmp(inner);
	count = count + helper((u64)got);
	if (got < 3)
		by_tail(got + 1);
	if (n)
		deep(n, 40);
	return count;
}

SEPARATE static u64 catches(u64 n)
{
	volatile u64 sum = n;
	switch (setjmp(outer)) {
	case 0: deep(n, 1); break;
	case 1:
		sum = mix(sum, helper(sum));
		deep(n + 1, 2);
		break;
	case 2: sum = mix(sum, nested(n)); break;
	case 40: sum = mix(sum, nested(0)); break;
	}
	return sum;
}

u64 victim_jumps(void)
{
	u64 sum = catches(4);
	return mix(sum, catches(1 + opaque));
}
