/* Signals that a thread sends itself, a known number of times: handlers with loops and calls, in
 * the middle of loops, on another stack, within each other, and that interrupt the functions they
 * call. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "truth.h"

enum { ALTERNATE = 256 << 10 };

static volatile u64 seen;

KEEP u64 signal_leaf(u64 x)
{
	CALLED(signal_leaf);
	return x * 9 + 2;
}

KEEP u64 signal_loop(u64 n, int sig)
{
	LOOP(signalled);
	u64 x = n;
	CALLED(signal_loop);
	ENTER(signalled);
	for (u64 i = 0; i < n; i++) {
		ITER(signalled);
		x += signal_leaf(i);
		if (sig && i % 3 == 1)
			pthread_kill(pthread_self(), sig);
		x ^= signal_leaf(x);
	}
	LEAVE(signalled);
	return x;
}

KEEP void signal_handler(int sig)
{
	LOOP(handler);
	u64 x = (u64)sig;
	CALLED(signal_handler);
	ENTER(handler);
	for (u64 i = 0; i < 5; i++) {
		ITER(handler);
		x = x * 3 + i;
		BARRIER();
	}
	LEAVE(handler);
	seen = seen * 5 + x;
}

/* Calls the very functions that it may have interrupted. */
KEEP void signal_calling(int sig)
{
	CALLED(signal_calling);
	seen = seen * 5 + signal_loop(3, sig == SIGUSR1 ? SIGUSR2 : 0);
}

/* The signal comes once in the middle. */
KEEP u64 signal_plain(u64 n)
{
	LOOP(plain);
	u64 x = n;
	CALLED(signal_plain);
	ENTER(plain);
	for (u64 i = 0; i < n; i++) {
		ITER(plain);
		x = x * 5 + i;
		if (i == n / 2)
			raise(SIGRTMIN + 3);
		BARRIER();
	}
	LEAVE(plain);
	return x;
}

static void handle(int sig, void (*handler)(int), int flags)
{
	struct sigaction a;
	memset(&a, 0, sizeof(a));
	a.sa_handler = handler;
	a.sa_flags = flags;
	if (sigaction(sig, &a, NULL))
		abort();
}

u64 victim_signals(void)
{
	stack_t stack = {.ss_sp = malloc(ALTERNATE), .ss_size = ALTERNATE}, before;
	u64 sum = 0;
	seen = 0;
	if (sigaltstack(&stack, &before))
		abort();
	handle(SIGUSR1, signal_calling, 0);
	handle(SIGUSR2, signal_handler, SA_ONSTACK);
	handle(SIGRTMIN + 2, signal_calling, SA_ONSTACK | SA_NODEFER);
	handle(SIGRTMIN + 3, signal_handler, SA_ONSTACK | SA_SIGINFO);
	for (u64 i = 0; i < 20; i++) {
		sum = sum * 3 + signal_loop(i, SIGUSR2);
		sum = sum * 3 + signal_loop(i, SIGUSR1);
		sum = sum * 3 + signal_loop(i, SIGRTMIN + 2);
		sum = sum * 3 + signal_plain(i);
	}
	sigaltstack(&before, NULL);
	free(stack.ss_sp);
	return sum ^ seen;
}
