/* Several ways out, frames set up late (shrink-wrapping), cold parts, calls that do not return. */
#include <stdlib.h>

#include "victim.h"

#define COLD __attribute__((cold, noinline))

COLD static u64 repair(u64 a)
{
	return mix(a, 77 + opaque);
}

COLD __attribute__((noreturn)) static void give_up(u64 a)
{
	exit((int)a);
}

SEPARATE static u64 work(u64 a)
{
	return a * a + opaque;
}

/* Most calls need no frame. */
SEPARATE static u64 quick_or_slow(u64 a, u64 b)
{
	if (a < 4)
		return b;
	u64 x = work(a), y = work(b), z = work(x);
	return x + y * z + a + b;
}

SEPARATE static u64 many_exits(u64 a, u64 b)
{
	if (!a)
		return 1;
	u64 x = work(a);
	if (x & 1)
		return x + b;
	if (x > 50) {
		u64 y = work(x + b);
		if (y % 3 == 0)
			return quick_or_slow(y, a);
		return y;
	}
	for (u64 i = 0; i < b; i++) {
		x += work(i);
		if (x > 1000)
			return x;
	}
	return x ^ a;
}

SEPARATE static u64 hot_and_cold(u64 a, u64 b)
{
	u64 sum = work(a);
	if (__builtin_expect(b > 5, 0)) {
		sum = repair(sum) + repair(b);
		for (u64 i = 0; i < 3; i++)
			sum = mix(sum, repair(i + a));
	}
	if (__builtin_expect(sum == 12345, 0))
		give_up(sum);
	return mix(sum, work(b));
}

SEPARATE static u64 ends_in_noreturn(u64 a)
{
	if (__builtin_expect(a < 100000, 1))
		return work(a) + 1;
	u64 x = work(a);
	give_up(x + work(x));
}

SEPARATE static u64 frame_in_loop(const u64 *p, u64 n)
{
	u64 sum = 0;
	for (u64 i = 0; i < n; i++) {
		if (p[i] < 10)
			continue;
		sum += quick_or_slow(p[i], sum);
		if (sum % 7 == 3)
			break;
	}
	return sum;
}

u64 victim_exits(void)
{
	static const u64 numbers[] = {1, 12, 3, 40, 5, 66, 7};
	u64 sum = 0;
	for (u64 i = 0; i < 9; i++) {
		sum = mix(sum, quick_or_slow(i, sum));
		sum = mix(sum, many_exits(i + opaque, 9 - i));
		sum = mix(sum, hot_and_cold(i, i));
		sum = mix(sum, ends_in_noreturn(i));
	}
	return mix(sum, frame_in_loop(numbers, 7));
}
