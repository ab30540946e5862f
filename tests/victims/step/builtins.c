/* What forces or bends frames: frame and return addresses, noreturn paths, protected frames, asm
 * with pushes. */
#include "victim.h"

SEPARATE static u64 leaf(u64 a)
{
	return a + 1 + opaque;
}

SEPARATE static u64 has_frame_address(u64 a)
{
	const char *frame = __builtin_frame_address(0);
	return leaf(a) + (frame != NULL);
}

SEPARATE static u64 has_return_address(u64 a)
{
	return leaf(a) + (__builtin_return_address(0) != NULL);
}

SEPARATE static u64 trapping(u64 a)
{
	if (a == 99)
		__builtin_trap();
	if (a == 98)
		__builtin_unreachable();
	return leaf(a) * 3;
}

SEPARATE static u64 clobbers(u64 a)
{
	__asm__ volatile("" ::: SAVED_REGISTERS, "memory");
	return leaf(a) * 5;
}

/* A leaf that saves registers though it calls nothing. */
SEPARATE static u64 clobbering_leaf(u64 a)
{
	__asm__ volatile("" : "+r"(a)::SAVED_REGISTERS, "memory");
	return a * 7;
}

SEPARATE static u64 buffer(u64 a)
{
	volatile char text[40];
	for (u64 i = 0; i < 6; i++)
		text[i * 3 + a % 2] = (char)(a + i);
	return leaf((u64)text[9 + a % 2]);
}

u64 victim_builtins(void)
{
	u64 sum = 0;
	for (u64 i = 0; i < 4; i++) {
		sum = mix(sum, has_frame_address(i));
		sum = mix(sum, has_return_address(i));
		sum = mix(sum, trapping(i));
		sum = mix(sum, clobbers(i));
		sum = mix(sum, clobbering_leaf(i));
		sum = mix(sum, buffer(i));
	}
	return sum;
}
