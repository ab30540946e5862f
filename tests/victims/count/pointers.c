/* Calls through pointers: one target, two in turn, three, many; from one place and from several. */
#include "truth.h"

typedef u64 unary(u64 x);

#define TARGET(name, what)                                                                         \
	KEEP u64 name(u64 x)                                                                       \
	{                                                                                          \
		CALLED(name);                                                                      \
		return what;                                                                       \
	}
TARGET(target_a, x + 1)
TARGET(target_b, x * 3)
TARGET(target_c, x ^ 0x55)
TARGET(target_d, target_a(x) + target_b(x))
TARGET(target_e, x >> 1)
TARGET(target_f, ~x)
TARGET(target_g, x * 5 + 1)
TARGET(target_h, target_d(x) ^ target_c(x))

static unary *const targets[] = {target_a, target_b, target_c, target_d,
				 target_e, target_f, target_g, target_h};

KEEP u64 pointer_calls(u64 n, u64 kinds)
{
	LOOP(pointed);
	u64 x = n;
	CALLED(pointer_calls);
	ENTER(pointed);
	for (u64 i = 0; i < n; i++) {
		ITER(pointed);
		x = targets[i % kinds](x) + i;
	}
	LEAVE(pointed);
	return x;
}

/* The callee decides who comes next. */
KEEP u64 pointer_chain(unary *f, u64 n)
{
	LOOP(chained);
	u64 x = n;
	CALLED(pointer_chain);
	ENTER(chained);
	while (n--) {
		ITER(chained);
		x = f(x);
		f = targets[x % 8];
	}
	LEAVE(chained);
	return x;
}

KEEP u64 pointer_nested(u64 (*f)(u64, u64), u64 n)
{
	CALLED(pointer_nested);
	u64 x = f(n, 1) + 1;
	OPAQUE(x);
	return x ^ f(n, 2);
}

KEEP u64 target_of_six(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f)
{
	CALLED(target_of_six);
	return a + 3 * b + 5 * c + 7 * d + 11 * e + 13 * f;
}

/* Keeps 0 in r11 over a call, as compilers do if they know the callee. So counting code cannot use
 * that register in this function, but the next callee expects a frame there: and in r10, which is
 * the only other one that is free, a sum. */
KEEP u64 pointer_keeping(u64 x)
{
	CALLED(pointer_keeping);
#ifdef __x86_64__
	u64 result;
	__asm__ volatile("lea -128(%%rsp), %%rsp\n" /* the red zone */
			 "xor %%r11d, %%r11d\n"
			 "call target_a\n"
			 "lea (%%rax, %%r11), %%r10\n"
			 "mov %%r10, %%rdi\n"
			 "mov %%r10, %%rsi\n"
			 "mov %%r10, %%rdx\n"
			 "mov %%r10, %%rcx\n"
			 "mov %%r10, %%r8\n"
			 "mov %%r10, %%r9\n"
			 "call target_of_six\n"
			 "lea 128(%%rsp), %%rsp\n"
			 : "=a"(result), "+D"(x)
			 :
			 : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "cc", "memory");
	return result;
#else
	x = target_a(x);
	OPAQUE(x);
	return target_of_six(x, x, x, x, x, x);
#endif
}

u64 victim_pointers(void)
{
	u64 sum = 0;
	for (u64 i = 0; i < 40; i++) {
		sum += pointer_calls(i, i % 8 + 1);
		sum += pointer_keeping(i);
		sum ^= pointer_chain(targets[i % 8], i);
		sum = sum * 3 + pointer_nested(pointer_calls, i);
	}
	return sum;
}
