/* A timer's signals at a high rate, handled on an alternate stack by code that is probed itself,
 * while the same code runs outside. How many come is not known, so the checksum does without. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "victim.h"

enum { ALTERNATE = 256 << 10 };
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

KEEP u64 signal_leaf(u64 x)
{
	CALLED("signal_leaf");
	u64 y = mix(x);
	LEFT("signal_leaf");
	return y;
}

KEEP u64 signal_loop(u64 n)
{
	u64 x = 0;
	CALLED("signal_loop");
	ENTERED("signal_loop@1");
	do {
		ITERATED("signal_loop@1");
		x += signal_leaf(n);
		BARRIER();
	} while (--n);
	LEFT("signal_loop");
	return x;
}

static volatile u64 ignored;

KEEP void signal_handler(int sig)
{
	CALLED("signal_handler");
	ignored += signal_loop(3) + (u64)sig;
	LEFT("signal_handler");
}

static timer_t start_timer(long ns)
{
	struct sigevent e;
	struct itimerspec every = {{0, ns}, {0, ns}};
	timer_t t;
	memset(&e, 0, sizeof(e));
	e.sigev_notify = SIGEV_THREAD_ID;
	e.sigev_signo = SIGRTMIN + 2;
	e.sigev_notify_thread_id = (int)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &e, &t) || timer_settime(t, 0, &every, NULL))
		abort();
	return t;
}

u64 victim_signals(void)
{
	struct sigaction a = {.sa_handler = signal_handler, .sa_flags = SA_ONSTACK | SA_RESTART};
	stack_t stack = {.ss_sp = malloc(ALTERNATE), .ss_size = ALTERNATE}, before;
	u64 sum = 0;
	if (sigaltstack(&stack, &before) || sigaction(SIGRTMIN + 2, &a, NULL))
		abort();
	timer_t t = start_timer(150000);
	for (u64 i = 1; i < 600; i++)
		sum = sum * 3 + signal_loop(i % 40 + 1);
	timer_delete(t);
	sigaltstack(&before, NULL);
	free(stack.ss_sp);
	return sum;
}
