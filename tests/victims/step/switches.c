/* Jump tables, in functions with and without a frame, and computed gotos. */
#include "victim.h"

SEPARATE static u64 helper(u64 a)
{
	return a * 7 + opaque;
}

SEPARATE static u64 pure(u64 kind, u64 a)
{
	switch (kind) {
	case 0: return a + 1;
	case 1: return a * 2;
	case 2: return a ^ 3;
	case 3: return a - 4;
	case 4: return a << 5;
	case 5: return a | 6;
	case 6: return a >> 1;
	case 9: return ~a;
	default: return a;
	}
}

SEPARATE static u64 calling(u64 kind, u64 a, u64 b)
{
	u64 sum = b;
	switch (kind) {
	case 10: sum += helper(a);
	case 11: sum ^= helper(b); break;
	case 12: return helper(a + b);
	case 13: sum = helper(sum) - helper(a); break;
	case 14:
		for (u64 i = 0; i < 3; i++)
			sum += pure(i, helper(i));
		break;
	case 15: return sum;
	case 17: sum = mix(helper(a), helper(b));
	case 18: sum = mix(sum, pure(a & 7, sum)); break;
	default: return helper(1);
	}
	return mix(sum, a);
}

SEPARATE static u64 interpret(const unsigned char *code)
{
	static const void *const labels[] = {&&add, &&call, &&shift, &&stop};
	u64 a = 1;
	goto *labels[*code];
add:
	a += 5;
	goto *labels[*++code];
call:
	a = helper(a);
	goto *labels[*++code];
shift:
	a = a << 3 | a >> 61;
	goto *labels[*++code];
stop:
	return a;
}

u64 victim_switches(void)
{
	static const unsigned char code[] = {0, 1, 2, 1, 1, 0, 2, 3};
	u64 sum = 0;
	for (u64 i = 0; i < 20; i++) {
		sum = mix(sum, pure(i / 2 + opaque, sum));
		sum = mix(sum, calling(i, sum, i));
	}
	return mix(sum, interpret(code));
}
