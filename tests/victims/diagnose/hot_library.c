/* The library of library.c, and what late.c loads. */
#include "victim.h"

uint64_t library_work(uint64_t x);

OWN static uint64_t inside(uint64_t x)
{
	for (int i = 0; i < 400000; i++) /* hot: inside */
		STIR(x);
	return x;
}

uint64_t library_work(uint64_t x)
{
	return inside(x) + inside(x + 1);
}
