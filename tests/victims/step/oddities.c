/* What compilers do not do: see oddities-ARCH.S. Each function there returns 2 * a + 1. */
#include "victim.h"

typedef u64 odd(u64 a, u64 size); /* size: a multiple of 16 */

odd odd_1, odd_2, odd_3, odd_4, odd_5, odd_6, odd_7, odd_8;

u64 victim_oddities(void)
{
	static odd *const all[] = {odd_1, odd_2, odd_3, odd_4, odd_5, odd_6, odd_7, odd_8};
	u64 sum = 0;
	for (u64 i = 0; i < 8; i++)
		for (u64 k = 0; k < 3; k++)
			sum = mix(sum, all[i](k + opaque, 16 * k + 16));
	return sum;
}
