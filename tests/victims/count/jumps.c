/* Loops left by longjmp: at once, from functions called in them, several levels of loops and frames
 * at a time, out of a signal handler; and loops that go on because of one. */
#include <setjmp.h>
#include <signal.h>

#include "truth.h"

static jmp_buf out;

KEEP void jump_leaf(u64 x, u64 at)
{
	CALLED(jump_leaf);
	if (x == at)
		longjmp(out, (int)(x % 5) + 1);
}

/* Its own loops are left by the jump, the inner one in the callee's loop. */
LOOP_ELSEWHERE(jumped);
LOOP_ELSEWHERE(jumped_outer);
LOOP_ELSEWHERE(jumped_inner);

KEEP u64 jump_loop(u64 n, u64 at)
{
	CALLED(jump_loop);
	ENTER(jumped);
	for (u64 i = 0; i < n; i++) {
		ITER(jumped);
		jump_leaf(i, at);
		BARRIER();
	}
	LEAVE(jumped);
	return n;
}

KEEP u64 jump_nest(u64 n, u64 at)
{
	u64 x = 0;
	CALLED(jump_nest);
	ENTER(jumped_outer);
	for (u64 i = 0; i < n; i++) {
		ITER(jumped_outer);
		ENTER(jumped_inner);
		for (u64 j = 0; j < n; j++) {
			ITER(jumped_inner);
			x += jump_loop(j, at - i);
		}
		LEAVE(jumped_inner);
	}
	LEAVE(jumped_outer);
	return x;
}

KEEP u64 jump_catch(u64 n, u64 at)
{
	volatile u64 x = 0;
	CALLED(jump_catch);
	int how = setjmp(out);
	if (!how) {
		x = jump_nest(n, at);
	} else {
		LEAVE(jumped);
		LEAVE(jumped_inner);
		LEAVE(jumped_outer);
		x = x * 7 + (u64)how;
	}
	return x;
}

/* The target is in a loop, which goes on. */
LOOP_ELSEWHERE(resumed);

KEEP u64 jump_resume(u64 n)
{
	volatile u64 x = 0, i;
	CALLED(jump_resume);
	ENTER(resumed);
	for (i = 0; i < n; i++) {
		ITER(resumed);
		if (setjmp(out))
			x = x * 3 + i;
		else
			jump_leaf(i, i & ~1ul);
	}
	LEAVE(resumed);
	return x;
}

/* The jump is what makes the loop: not one of the flow graph. */
KEEP u64 jump_again(u64 n)
{
	volatile u64 left = n, x = 0;
	CALLED(jump_again);
	setjmp(out);
	x = x * 3 + left;
	if (left) {
		left = left - 1;
		jump_leaf(1, 1);
	}
	return x;
}

static sigjmp_buf out_of_signal;
LOOP_ELSEWHERE(handled);
LOOP_ELSEWHERE(interrupted);

KEEP void jump_handler(int sig)
{
	CALLED(jump_handler);
	ENTER(handled);
	for (int i = 0;; i++) {
		ITER(handled);
		BRANCH(i & 1);
		if (i == 4)
			siglongjmp(out_of_signal, sig);
		BARRIER();
	}
}

KEEP u64 jump_raise(u64 n)
{
	CALLED(jump_raise);
	ENTER(interrupted);
	for (u64 i = 0; i < 100; i++) {
		ITER(interrupted);
		if (i == n)
			raise(SIGUSR2);
		BARRIER();
	}
	LEAVE(interrupted);
	return n;
}

KEEP u64 jump_signal(u64 n)
{
	volatile u64 x = n;
	CALLED(jump_signal);
	if (sigsetjmp(out_of_signal, 1)) {
		LEAVE(handled);
		LEAVE(interrupted);
		x = x * 5;
	} else {
		x = jump_raise(n);
	}
	return x;
}

u64 victim_jumps(void)
{
	u64 sum = 0;
	signal(SIGUSR2, jump_handler);
	for (u64 i = 0; i < 30; i++) {
		sum = sum * 31 + jump_catch(i % 7, i % 4);
		sum ^= jump_resume(i % 9);
		sum = sum * 3 + jump_again(i % 5);
		if (i % 4 == 0)
			sum += jump_signal(i);
	}
	return sum;
}
