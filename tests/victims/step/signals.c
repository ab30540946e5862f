/* Signals: raised in leaf, frameless and deep code, in a handler, on another stack; faults in the
 * middle of a function that the handler repairs or jumps out of. */
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "victim.h"

static volatile u64 handled;
static sigjmp_buf out;
static unsigned char other_stack[65536];

SEPARATE static u64 helper(u64 a)
{
	return a * 3 + opaque;
}

static void count(int signal)
{
	handled = mix(handled, helper((u64)signal));
}

static void count_more(int signal, siginfo_t *info, void *context)
{
	volatile u64 frame[20] = {(u64)signal};
	(void)context;
	handled = mix(handled, helper(frame[0]) + (u64)(info->si_code == SI_TKILL));
	raise(SIGUSR1);
	handled = mix(handled, frame[0]);
}

static void leave(int signal)
{
	handled = mix(handled, helper((u64)signal));
	siglongjmp(out, 5);
}

SEPARATE static u64 raising(u64 n)
{
	volatile u64 frame[6] = {n};
	raise(n & 1 ? SIGUSR1 : SIGUSR2);
	return n ? raising(n - 1) + frame[0] : 3;
}

SEPARATE static u64 raise_by_tail(u64 n)
{
	return n > 5 ? n : (u64)raise(SIGUSR1);
}

/* The load faults before or after frames are set up, as the compiler likes. */
SEPARATE static u64 load(const volatile u64 *p)
{
	return *p + 1;
}

SEPARATE static u64 load_between(const volatile u64 *p, u64 a)
{
	u64 x = helper(a);
	return x + *p + helper(x);
}

SEPARATE static u64 faults(u64 n)
{
	volatile u64 sum = n;
	const volatile u64 *nowhere = (const volatile u64 *)(uintptr_t)(opaque + 16);
	if (sigsetjmp(out, 1) == 0)
		sum = load(nowhere);
	if (sigsetjmp(out, 1) == 0)
		sum = load_between(nowhere, n);
	return mix(sum, handled);
}

static void install(int signal, void (*handler)(int), int flags)
{
	struct sigaction action;
	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	action.sa_flags = flags;
	sigaction(signal, &action, NULL);
}

static void install_more(int flags)
{
	struct sigaction action;
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = count_more;
	action.sa_flags = SA_SIGINFO | flags;
	sigaction(SIGUSR2, &action, NULL);
}

u64 victim_signals(void)
{
	stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof(other_stack)};
	handled = 0;
	install(SIGUSR1, count, 0);
	install(SIGSEGV, leave, 0);
	install_more(0);
	u64 sum = raising(3);
	sum = mix(sum, raise_by_tail(opaque));
	sum = mix(sum, faults(7));
	sigaltstack(&stack, NULL);
	install(SIGSEGV, leave, SA_ONSTACK);
	install_more(SA_ONSTACK);
	sum = mix(sum, raising(2));
	sum = mix(sum, faults(8));
	return mix(sum, handled);
}
