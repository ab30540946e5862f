/* Variable arguments; structures by value, in registers, in memory and returned. */
#include <stdarg.h>

#include "victim.h"

struct small {
	u64 a, b;
};
struct floats {
	double x, y, z;
};
struct large {
	u64 v[9];
};

SEPARATE static u64 sum_of(unsigned n, ...)
{
	va_list list;
	u64 sum = 0;
	va_start(list, n);
	for (unsigned i = 0; i < n; i++)
		sum = mix(sum, va_arg(list, u64));
	va_end(list);
	return sum;
}

SEPARATE static double mean_of(const char *kinds, ...)
{
	va_list list;
	double sum = 0;
	va_start(list, kinds);
	for (; *kinds; kinds++)
		sum += *kinds == 'd' ? va_arg(list, double) : (double)va_arg(list, u64);
	va_end(list);
	return sum;
}

SEPARATE static u64 forwarded(va_list list)
{
	u64 a = va_arg(list, u64);
	return mix(a, va_arg(list, u64));
}

SEPARATE static u64 forward(u64 n, ...)
{
	va_list list;
	va_start(list, n);
	u64 sum = forwarded(list) + n;
	va_end(list);
	return sum;
}

SEPARATE static struct small make_small(u64 a)
{
	return (struct small){a, a + 1 + opaque};
}

SEPARATE static struct floats make_floats(double x)
{
	return (struct floats){x, x * 2, x + 0.5};
}

SEPARATE static struct large make_large(struct small s)
{
	struct large l = {{0}};
	for (u64 i = 0; i < 9; i++)
		l.v[i] = s.a * i + s.b;
	return l;
}

SEPARATE static u64 take(struct large l, struct small s, struct floats f)
{
	struct large m = make_large(s);
	return mix(l.v[8] + m.v[3], (u64)(f.x + f.y + f.z));
}

u64 victim_arguments(void)
{
	u64 sum = sum_of(3, (u64)1, (u64)2, (u64)3);
	sum = mix(sum, sum_of(12, sum, (u64)2, (u64)3, (u64)4, (u64)5, (u64)6, (u64)7, (u64)8,
			      (u64)9, (u64)10, (u64)11, (u64)12));
	sum = mix(sum, (u64)mean_of("dudddddddddu", 1.0, (u64)2, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0,
				    10.0, 11.0, (u64)12));
	sum = mix(sum, forward(5, sum, (u64)6));
	struct small s = make_small(sum);
	return mix(sum, take(make_large(s), s, make_floats(4.0)));
}
