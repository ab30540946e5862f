/* Functions within functions (gcc only): the static chain is an argument besides the others. */
#include "victim.h"

u64 victim_nested(void)
{
	u64 total = opaque + 1;
	__attribute__((noinline)) u64 add(u64 a)
	{
		total = mix(total, a);
		return total;
	}
	__attribute__((noinline)) u64 twice(u64 a)
	{
		u64 here = a * 3;
		__attribute__((noinline)) u64 inner(u64 b)
		{
			here += add(b);
			return here ^ total;
		}
		return inner(a) + inner(a + 1);
	}
	for (u64 i = 0; i < 5; i++)
		total += twice(i) + add(i);
	return total;
}
