/* A library with a function that works and another one, as large, that nobody calls. Built with
 * -DNAME=alpha -DWORK_FIRST=1 and -DNAME=beta -DWORK_FIRST=0, the two have the same layout, but
 * each has the one function where the other has the other: a sample that is looked up in the wrong
 * library is in a function that never ran. */
#include <stdint.h>

#define PASTE_(a, b) a##b
#define PASTE(a, b)  PASTE_(a, b)

#define BODY(name)                                                                                 \
	__attribute__((noinline, noclone, used)) static uint64_t name(uint64_t x)                  \
	{                                                                                          \
		for (int i = 0; i < 20000; i++) {                                                  \
			x ^= x << 13;                                                              \
			x ^= x >> 7;                                                               \
			x ^= x << 17;                                                              \
		}                                                                                  \
		return x;                                                                          \
	}

#if WORK_FIRST
BODY(PASTE(NAME, _work))
BODY(PASTE(NAME, _never))
#else
BODY(PASTE(NAME, _never))
BODY(PASTE(NAME, _work))
#endif

uint64_t plugin_work(uint64_t x);

uint64_t plugin_work(uint64_t x)
{
	return PASTE(NAME, _work)(x) + 1;
}
