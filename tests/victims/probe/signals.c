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

static timer_t make_timer(int sig)
{
	struct sigevent e;
	timer_t t;
	memset(&e, 0, sizeof(e));
	e.sigev_notify = SIGEV_THREAD_ID;
	e.sigev_signo = sig;
	e.sigev_notify_thread_id = (int)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &e, &t))
		abort();
	return t;
}

static void start_timer(timer_t t, long ns, long interval)
{
	struct itimerspec when = {{0, interval}, {0, ns}};
	if (timer_settime(t, 0, &when, NULL))
		abort();
}

u64 victim_signals(void)
{
	struct sigaction a = {.sa_handler = signal_handler, .sa_flags = SA_ONSTACK | SA_RESTART};
	stack_t stack = {.ss_sp = malloc(ALTERNATE), .ss_size = ALTERNATE}, before;
	u64 sum = 0;
	if (sigaltstack(&stack, &before) || sigaction(SIGRTMIN + 2, &a, NULL))
		abort();
	timer_t t = make_timer(SIGRTMIN + 2);
	start_timer(t, 150000, 150000);
	for (u64 i = 1; i < 600; i++)
		sum = sum * 3 + signal_loop(i % 40 + 1);
	timer_delete(t);
	sigaltstack(&before, NULL);
	free(stack.ss_sp);
	return sum;
}

/* A handler that takes its time, so that probes go in and out while it is going on: into the
 * function that it interrupted, too. Of its short instructions a jump on x86-64 replaces several.
 */
KEEP u64 interrupted_work(u64 n)
{
	u64 x = n;
	CALLED("interrupted_work");
	do {
		x += n;
		x ^= 5;
		x *= 3;
		BARRIER();
	} while (--n);
	LEFT("interrupted_work");
	return x;
}

static _Thread_local volatile sig_atomic_t came;

KEEP void interrupted_handler(int sig)
{
	for (u64 end = now_ns() + 300000; now_ns() < end;)
		;
	came = sig;
}

u64 victim_interrupted(void)
{
	struct sigaction a = {.sa_handler = interrupted_handler, .sa_flags = SA_RESTART};
	timer_t t = make_timer(SIGRTMIN + 3);
	u64 sum = 0;
	if (sigaction(SIGRTMIN + 3, &a, NULL))
		abort();
	for (u64 i = 1; i < 20; i++) {
		came = 0;
		start_timer(t, 30000, 0);
		while (!came)
			ignored += interrupted_work(30);
		sum = sum * 3 + interrupted_work(i);
	}
	timer_delete(t);
	return sum;
}
