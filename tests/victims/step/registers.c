/* Many values live across calls: every callee-saved register is used, and more is spilled. */
#include "victim.h"

SEPARATE static u64 next(u64 x)
{
	return x * 6364136223846793005u + 1442695040888963407u + opaque;
}

SEPARATE static u64 few(u64 seed)
{
	u64 a = next(seed);
	return a ^ next(a + 1);
}

SEPARATE static u64 all(u64 seed)
{
	u64 a = next(seed), b = next(a), c = next(b), d = next(c), e = next(d), f = next(e);
	u64 g = next(f), h = next(g), i = next(h), j = next(i), k = next(j), l = next(k),
	    m = next(l);
	return mix(mix(mix(a, b), mix(c, d)), mix(mix(e, f), mix(g, h))) ^
	       mix(mix(i, j), mix(k, l)) ^ m;
}

SEPARATE static u64 middle(u64 n, u64 seed)
{
	u64 a = seed, b = seed + 1, c = seed + 2, d = seed + 3;
	while (n--) {
		a = next(a) + d;
		b = few(b) ^ a;
		if (b & 1)
			c = all(c) + b;
		d = next(c) - d;
	}
	return mix(mix(a, b), mix(c, d));
}

u64 victim_registers(void)
{
	u64 sum = few(opaque + 1);
	sum = mix(sum, all(sum));
	return mix(sum, middle(5, sum));
}
