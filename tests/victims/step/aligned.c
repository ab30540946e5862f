/* Locals that need more alignment than the stack has: the frame is realigned at run time, also
 * together with arguments on the stack and with alloca. */
#include <alloca.h>

#include "victim.h"

SEPARATE static u64 look(volatile u64 *p, u64 alignment)
{
	return ((u64)(uintptr_t)p & (alignment - 1)) + p[0] + opaque;
}

SEPARATE static u64 by_32(u64 a)
{
	_Alignas(32) volatile u64 v[4] = {a, 1, 2, 3};
	return look(v, 32) + v[3];
}

SEPARATE static u64 by_64(u64 a, u64 b)
{
	_Alignas(64) volatile u64 v[8];
	volatile u64 w = b;
	v[0] = a;
	if (a > 1000000)
		return w;
	return look(v, 64) + by_32(w) + v[0];
}

SEPARATE static u64 by_4096(u64 a)
{
	_Alignas(4096) volatile u64 v[4];
	v[0] = a;
	return look(v, 4096) + by_64(a, v[0]);
}

SEPARATE static u64 with_stack_arguments(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h,
					 u64 i, u64 j)
{
	_Alignas(128) volatile u64 v[4];
	v[0] = a + b + c + d + e + f + g + h + i + j;
	u64 x = look(v, 128);
	return mix(x, by_32(j) + i);
}

SEPARATE static u64 with_alloca(u64 n)
{
	_Alignas(64) volatile u64 v[2];
	u64 *p = alloca(n * 8 + 8);
	p[0] = n;
	v[0] = look(p, 8);
	return mix(v[0], look(v, 64)) + by_64(n, p[0]);
}

u64 victim_aligned(void)
{
	u64 sum = 0;
	for (u64 i = 0; i < 4; i++) {
		sum = mix(sum, by_32(i));
		sum = mix(sum, by_64(i, sum));
		sum = mix(sum, by_4096(i));
		sum = mix(sum, with_stack_arguments(1, 2, 3, 4, 5, 6, 7, 8, i, sum));
		sum = mix(sum, with_alloca(i + opaque));
	}
	return sum;
}
