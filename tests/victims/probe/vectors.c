/* Vector and floating-point registers that live across calls and loops. */
#include <math.h>
#include <string.h>

#include "victim.h"

typedef double pair __attribute__((vector_size(16)));
typedef unsigned quad __attribute__((vector_size(16)));

KEEP double vector_polynomial(const double *x, unsigned n)
{
	double a = 0, b = 1, c = 2, d = 3, e = 4, f = 5, g = 6, h = 7;
	CALLED("vector_polynomial");
	for (unsigned i = 0; i < n; i++) {
		a = a * 0.5 + x[i];
		b = b * 0.25 - a;
		c = c * 0.75 + b * x[i];
		d = d * 0.125 + c;
		e = e * 0.5 - d;
		f = f * 0.25 + e * a;
		g = g * 0.5 + f;
		h = h * 0.125 - g;
		if (x[i] > 30)
			h += a;
	}
	return a + b + c + d + e + f + g + h;
}

KEEP quad vector_rotate(quad v, unsigned n)
{
	quad w = v + 1, x = v ^ 0x55, y = v * 3, z = ~v;
	CALLED("vector_rotate");
	do {
		v += w ^ x;
		w = (w << 7 | w >> 25) + y;
		x ^= z + v;
		y = y * 5 + w;
		z -= x;
	} while (--n);
	return v + w + x + y + z;
}

KEEP float vector_saxpy(float *restrict y, const float *restrict x, float a, unsigned n)
{
	float sum = 0;
	CALLED("vector_saxpy");
	for (unsigned i = 0; i < n; i++)
		y[i] = y[i] * 0.5f + a * x[i];
	for (unsigned i = 0; i < n; i++)
		sum += y[i];
	return sum;
}

KEEP pair vector_passed(pair a, pair b, double c, float d)
{
	CALLED("vector_passed");
	return a * b + c - (double)d;
}

static u64 bits(double x)
{
	u64 u;
	memcpy(&u, &x, sizeof(u));
	return u;
}

u64 victim_vectors(void)
{
	double x[64];
	float f[67], g[67];
	u64 sum = 0;
	pair p = {1.5, -2.5};
	for (unsigned i = 0; i < 64; i++)
		x[i] = i * 0.625 - 3;
	for (unsigned i = 0; i < 67; i++)
		f[i] = (float)i * 0.25f, g[i] = 1;
	for (unsigned i = 1; i < 60; i++) {
		quad q = vector_rotate((quad){i, 2, 3, 4}, i);
		sum = sum * 31 + bits(vector_polynomial(x, i));
		sum ^= (u64)q[0] << 32 | q[3];
		sum += bits((double)vector_saxpy(g, f, 0.125f, i));
		p = vector_passed(p, (pair){0.5, 0.25}, i, 0.5f);
		sum ^= bits(p[0]) + bits(p[1]) + bits(floor(sqrt(i) * 100));
	}
	return sum;
}
