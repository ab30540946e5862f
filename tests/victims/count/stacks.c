/* Frames whose size is not known, large ones, and calls with arguments on the stack. */
#include <alloca.h>
#include <stdarg.h>
#include <string.h>

#include "truth.h"

KEEP u64 stack_sum(const unsigned char *p, u64 n)
{
	LOOP(summed);
	u64 x = n;
	CALLED(stack_sum);
	ENTER(summed);
	for (u64 i = 0; i < n; i++) {
		ITER(summed);
		x = x * 3 + p[i];
		BARRIER();
	}
	LEAVE(summed);
	return x;
}

KEEP u64 stack_alloca(u64 n)
{
	LOOP(growing);
	u64 x = n;
	CALLED(stack_alloca);
	ENTER(growing);
	for (u64 i = 0; i < n; i++) {
		ITER(growing);
		unsigned char *p = alloca(i * 24 + 1);
		memset(p, (int)x & 0x7f, i * 24 + 1);
		x = x * 5 + stack_sum(p, i * 24 + 1);
	}
	LEAVE(growing);
	return x;
}

KEEP u64 stack_vla(u64 n)
{
	LOOP(shrinking);
	u64 x = n;
	CALLED(stack_vla);
	ENTER(shrinking);
	while (n) {
		ITER(shrinking);
		unsigned char p[n * 16];
		memset(p, (int)n, n * 16);
		x += stack_sum(p, n);
		if (n % 5 == 0)
			x ^= stack_vla(n / 2);
		n--;
	}
	LEAVE(shrinking);
	return x;
}

KEEP u64 stack_large(u64 n)
{
	unsigned char p[20000];
	CALLED(stack_large);
	memset(p, (int)n, sizeof(p));
	return n ? stack_sum(p, n) + stack_large(n - 1) : 0;
}

KEEP u64 stack_varargs(unsigned n, ...)
{
	LOOP(arguments);
	va_list list;
	u64 x = n;
	CALLED(stack_varargs);
	va_start(list, n);
	ENTER(arguments);
	for (unsigned i = 0; i < n; i++) {
		ITER(arguments);
		x = x * 3 + (i % 3 == 2 ? (u64)va_arg(list, double) : va_arg(list, u64));
		BARRIER();
	}
	LEAVE(arguments);
	va_end(list);
	return x;
}

KEEP u64 stack_many(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h, u64 i, u64 j, u64 k,
		    u64 l)
{
	CALLED(stack_many);
	return a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + g * 7 + h * 8 + i * 9 + j * 10 + k * 11 +
	       l * 12;
}

struct wide {
	u64 of[9];
};

KEEP struct wide stack_wide(struct wide w, u64 n)
{
	CALLED(stack_wide);
	for (unsigned i = 0; i < 9; i++)
		w.of[i] = w.of[(i + 1) % 9] * 3 + n;
	return w;
}

u64 victim_stacks(void)
{
	struct wide w = {{1, 2, 3, 4, 5, 6, 7, 8, 9}};
	u64 sum = 0;
	for (u64 i = 0; i < 14; i++) {
		sum += stack_alloca(i);
		sum ^= stack_vla(i);
		sum = sum * 3 + stack_large(i);
		sum ^= stack_varargs(11, i, sum, 2.5, i, i, 3.0, i, i, 4.0, sum, i);
		sum += stack_many(i, 1, 2, 3, 4, 5, 6, 7, 8, 9, sum, i);
		w = stack_wide(w, i);
		sum ^= w.of[i % 9];
	}
	return sum;
}
