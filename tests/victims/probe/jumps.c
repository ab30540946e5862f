/* Functions that are left by longjmp, from calls, loops and signal handlers. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

#include "victim.h"

KEEP void jump_leaf(jmp_buf out, u64 x)
{
	CALLED("jump_leaf");
	if (x % 3 == 0)
		longjmp(out, (int)(x % 5) + 1);
	LEFT("jump_leaf");
}

KEEP u64 jump_middle(jmp_buf out, u64 x)
{
	CALLED("jump_middle");
	jump_leaf(out, x);
	LEFT("jump_middle");
	return x + 1;
}

KEEP u64 jump_loop(jmp_buf out, u64 n)
{
	u64 x = n;
	CALLED("jump_loop");
	ENTERED("jump_loop@1");
	do {
		ITERATED("jump_loop@1");
		x = mix(x) + jump_middle(out, n);
		BARRIER();
	} while (n-- > 1);
	return x;
}

KEEP u64 jump_catch(u64 x)
{
	jmp_buf out;
	volatile u64 y = 0;
	CALLED("jump_catch");
	int how = setjmp(out);
	if (how)
		y = y * 7 + (u64)how;
	else
		y = jump_loop(out, x) + jump_middle(out, x * 2 + 1);
	LEFT("jump_catch");
	return y;
}

static _Thread_local sigjmp_buf from_signal;

KEEP void jump_handler(int sig)
{
	CALLED("jump_handler");
	siglongjmp(from_signal, sig);
}

KEEP u64 jump_signal(u64 x)
{
	volatile u64 y = x;
	CALLED("jump_signal");
	if (sigsetjmp(from_signal, 1))
		y = mix(y);
	else
		pthread_kill(pthread_self(), SIGUSR2);
	LEFT("jump_signal");
	return y;
}

/* The same frame is left again and again. */
KEEP u64 jump_often(u64 n)
{
	jmp_buf out;
	volatile u64 left = n, sum = 0;
	CALLED("jump_often");
	int how = setjmp(out);
	sum = sum * 3 + (u64)how;
	if (left) {
		u64 now = left;
		left = now - 1;
		jump_middle(out, now * 3);
	}
	LEFT("jump_often");
	return sum;
}

u64 victim_jumps(void)
{
	u64 sum = 0;
	signal(SIGUSR2, jump_handler);
	for (u64 i = 1; i < 60; i++) {
		sum = sum * 31 + jump_catch(i);
		sum ^= jump_often(i % 7);
		if (i % 8 == 0)
			sum += jump_signal(i);
	}
	return sum;
}
