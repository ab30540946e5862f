/* Frames whose size is not known to the compiler, and frames too large for one immediate operand.
 */
#include <alloca.h>

#include "victim.h"

SEPARATE static u64 sum_of(const u64 *p, u64 n)
{
	u64 sum = 0;
	for (u64 i = 0; i < n; i++)
		sum = mix(sum, p[i]);
	return sum;
}

SEPARATE static u64 with_alloca(u64 n)
{
	u64 *p = alloca(n * sizeof(*p));
	for (u64 i = 0; i < n; i++)
		p[i] = i * n;
	return sum_of(p, n);
}

SEPARATE static u64 with_array(u64 n, u64 m)
{
	u64 sum = 0;
	for (u64 k = 1; k <= m; k++) {
		u64 v[n + k];
		for (u64 i = 0; i < n + k; i++)
			v[i] = sum + i;
		sum = mix(sum, sum_of(v, n + k));
	}
	return sum;
}

SEPARATE static u64 alloca_in_loop(u64 n)
{
	u64 *list = NULL, sum = 0;
	for (u64 i = 0; i < n; i++) {
		u64 *node = alloca(2 * sizeof(u64) + i);
		node[0] = (u64)(uintptr_t)list;
		node[1] = i;
		list = node;
	}
	for (; list; list = (u64 *)(uintptr_t)list[0])
		sum = mix(sum, list[1]);
	return sum + sum_of(&sum, 1);
}

/* Only a few words are touched: the size is what matters. */
SEPARATE static u64 page(u64 n)
{
	volatile u64 v[5000 / 8];
	v[n] = n;
	v[600] = 5;
	u64 copy = v[600];
	return sum_of(&copy, 1) + v[n];
}

SEPARATE static u64 pages(u64 n)
{
	volatile u64 v[70000 / 8];
	v[n] = n;
	v[8000] = page(n);
	return v[8000] + with_alloca(v[n]);
}

SEPARATE static u64 megabyte(u64 n)
{
	volatile unsigned char v[1200000];
	v[n] = (unsigned char)n;
	v[1100000] = 9;
	if (n > 100)
		return v[n];
	return pages(n) + v[1100000];
}

SEPARATE static u64 early_alloca(u64 n)
{
	if (n < 3)
		return n + opaque;
	u64 *p = alloca(n * 16);
	p[0] = n;
	p[1] = early_alloca(n - 1);
	return sum_of(p, 2);
}

u64 victim_frames(void)
{
	u64 sum = with_alloca(5 + opaque);
	sum = mix(sum, with_array(3 + opaque, 3));
	sum = mix(sum, alloca_in_loop(6));
	sum = mix(sum, page(7));
	sum = mix(sum, pages(11));
	sum = mix(sum, megabyte(13));
	sum = mix(sum, megabyte(opaque + 1000));
	return mix(sum, early_alloca(8));
}
