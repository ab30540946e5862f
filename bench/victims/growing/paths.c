/* The same work below so many call paths: eight functions call one another, as the digits of a
 * number say that is another one each time. usage: paths COUNT */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WALKS = 100000 };

#define OWN __attribute__((noinline, noclone)) static

static uint64_t walk(uint64_t digits, uint64_t left);

OWN uint64_t bottom(uint64_t x)
{
	for (int i = 0; i < 5000; i++)
		x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9 + (uint64_t)i;
	return x;
}

#define STEP(n)                                                                                    \
	OWN uint64_t step##n(uint64_t digits, uint64_t left)                                       \
	{                                                                                          \
		return walk(digits, left) + n;                                                     \
	}
#define STEPS STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)
STEPS

OWN uint64_t walk(uint64_t digits, uint64_t left)
{
	static uint64_t (*const steps[])(uint64_t, uint64_t) = {step0, step1, step2, step3,
								step4, step5, step6, step7};
	return left ? steps[digits % 8](digits / 8, left / 8) + 1 : bottom(digits);
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000, x = 1, sum = 0;
	for (int i = 0; i < WALKS; i++) {
		x = x * 6364136223846793005 + 1442695040888963407;
		sum += walk((x >> 20) % count, count);
	}
	printf("%lu\n", (unsigned long)sum);
	return 0;
}
