/* Being left alone by the optimiser: what victims share whose counts must be those of the source.
 */
#pragma once
#include <stdint.h>

typedef uint64_t u64;

/* Not inlined, cloned or changed because of who calls it. */
#if defined(__GNUC__) && !defined(__clang__)
#define KEEP __attribute__((noipa, used))
#else
#define KEEP __attribute__((noinline, used))
#endif

/* The compiler cannot know the value behind this. */
#define OPAQUE(x) __asm__ volatile("" : "+r"(x)::"memory")
/* One at the end of a body keeps it from being merged, vectorised or taken out of its loop. */
#define BARRIER() __asm__ volatile("" ::: "memory")

static inline u64 mix(u64 x)
{
	x ^= x >> 29;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	return x ^ x >> 32;
}
