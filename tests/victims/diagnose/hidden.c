/* Figure 1 of the paper on Deep Start: a() calls six functions, none of which takes 20 per cent of
 * the time; all of them call e(), which takes most. */
#include "victim.h"

static uint64_t first, hot;

OWN static uint64_t e(uint64_t x)
{
	for (int i = 0; i < 90000; i++) /* hot: e */
		STIR(x);
	return x;
}

#define CALLER(name)                                                                               \
	OWN static uint64_t name(uint64_t x)                                                       \
	{                                                                                          \
		for (int i = 0; i < 5000; i++)                                                     \
			STIR(x);                                                                   \
		CPU_OF(hot, x ^= e(x));                                                            \
		return x + 1;                                                                      \
	}
CALLER(b)
CALLER(c)
CALLER(d)
CALLER(f)
CALLER(g)
CALLER(h)

OWN static uint64_t a(uint64_t x)
{
	for (int i = 0; i < 4; i++) { /* hot: a */
		x = b(x) ^ c(x) ^ d(x);
		x ^= f(x) ^ g(x) ^ h(x);
	}
	for (int i = 0; i < 200000; i++)
		STIR(x);
	return x;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	while (running()) /* hot: main */
		same(&first, a(7));
	finish("hidden");
	tell_cpu("e", hot);
}
