/* Floating-point values live across calls, and vectors: registers that need other ways of saving.
 */
#include "victim.h"

SEPARATE static double half(double x)
{
	return x * 0.5 + (double)opaque;
}

SEPARATE static double many(double a, double b)
{
	double c = half(a), d = half(b), e = half(c + d), f = half(e * c), g = half(f - d),
	       h = half(g + a);
	double i = half(h), j = half(i + b), k = half(j * 2), l = half(k + c);
	return a + b * c + d - e + f * g + h - i + j * k - l;
}

SEPARATE static double mixed(double a, u64 n)
{
	double sum = a;
	for (u64 i = 0; i < n; i++)
		sum = half(sum) + many((double)i, a) + (double)mix(i, n) / 1e19;
	return sum;
}

SEPARATE static float dot(const float *a, const float *b, u64 n)
{
	float sum = 0;
	for (u64 i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

SEPARATE static u64 arrays(u64 n)
{
	float a[40], b[40];
	for (u64 i = 0; i < 40; i++) {
		a[i] = (float)(i + n);
		b[i] = (float)(i % 4);
	}
	return (u64)dot(a, b, 40) + (u64)half(dot(b, b, 40));
}

u64 victim_vectors(void)
{
	u64 sum = (u64)many(64.0, 32.0);
	sum = mix(sum, (u64)mixed(16.0, 3 + opaque));
	return mix(sum, arrays(3 + opaque));
}
