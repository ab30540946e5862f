/* Victims of the stepping test: each file has one function victim_NAME() that exercises one kind of
 * code and returns a checksum that is the same on every compiler, level and architecture. They are
 * small, because every instruction of them is stepped, and they hide constants behind `opaque` so
 * that the compiler cannot compute the answer itself. */
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef uint64_t u64;

#define SEPARATE                                                                                   \
	__attribute__((noinline)) /* a function of its own, with the frame that its body needs */

extern volatile u64 opaque; /* is 0 */

static inline u64 mix(u64 sum, u64 value)
{
	return (sum ^ value) * 0x9e3779b97f4a7c15u + (sum >> 29);
}
