/* Threads that are cancelled while they wait in a system call, at different moments: by
 * pthread_cancel(), and as musl and glibc since 2.41 do it by code whose bounds a signal handler
 * compares the pc with. One whose cancellation is lost waits for ever. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "victim.h"

enum { TIMES = 24 };

/* Makes the call unless *cancelled. The handler sends who is in it to cancel_call_away. */
#define OURS __attribute__((visibility("hidden")))
OURS long cancel_call(const _Atomic int *cancelled, long number, long a, const void *b, long c);
OURS extern const char cancel_call_end[], cancel_call_away[];

__asm__(".globl cancel_call, cancel_call_end, cancel_call_away\n"
	".hidden cancel_call, cancel_call_end, cancel_call_away\n");

#ifdef __aarch64__
__asm__(".text\n"
	".p2align 2\n"
	".type cancel_call, %function\n"
	"cancel_call:\n"
	"	ldr w0, [x0]\n"
	"	cbnz w0, cancel_call_away\n"
	"	mov x8, x1\n"
	"	mov x0, x2\n"
	"	mov x1, x3\n"
	"	mov x2, x4\n"
	"	svc 0\n"
	"cancel_call_end:\n"
	"	ret\n"
	"cancel_call_away:\n"
	"	mov x0, -125\n"
	"	ret\n"
	".size cancel_call, . - cancel_call\n");
#define PC(context) (context)->uc_mcontext.pc
#else
__asm__(".text\n"
	".type cancel_call, @function\n"
	"cancel_call:\n"
	"	movl (%rdi), %eax\n"
	"	testl %eax, %eax\n"
	"	jnz cancel_call_away\n"
	"	movq %rsi, %rax\n"
	"	movq %rdx, %rdi\n"
	"	movq %rcx, %rsi\n"
	"	movq %r8, %rdx\n"
	"	syscall\n"
	"cancel_call_end:\n"
	"	ret\n"
	"cancel_call_away:\n"
	"	movq $-125, %rax\n"
	"	ret\n"
	".size cancel_call, . - cancel_call\n");
#define PC(context) (context)->uc_mcontext.gregs[REG_RIP]
#endif

struct reader {
	int pipe[2];
	_Atomic int cancelled;
	_Atomic u64 count;
	u64 sum;
};

KEEP void cancel_handler(int sig, siginfo_t *info, void *context)
{
	u64 pc = (u64)PC((ucontext_t *)context);
	CALLED("cancel_handler");
	(void)sig;
	(void)info;
	if (pc >= (u64)cancel_call && pc < (u64)cancel_call_end)
		PC((ucontext_t *)context) = (u64)cancel_call_away;
	LEFT("cancel_handler");
}

KEEP void *cancel_own(void *arg)
{
	struct reader *r = arg;
	unsigned char byte = 0;
	long n;
	CALLED("cancel_own");
	while ((n = cancel_call(&r->cancelled, SYS_read, r->pipe[0], &byte, 1)) != -ECANCELED) {
		r->sum += n == 1 ? mix(byte) : 0;
		atomic_fetch_add(&r->count, n == 1);
	}
	LEFT("cancel_own");
	return PTHREAD_CANCELED;
}

KEEP void *cancel_library(void *arg)
{
	struct reader *r = arg;
	unsigned char byte = 0;
	CALLED("cancel_library");
	for (;;) {
		long n = read(r->pipe[0], &byte, 1);
		r->sum += n == 1 ? mix(byte) : 0;
		atomic_fetch_add(&r->count, n == 1);
	}
	return NULL;
}

/* A thread that is cancelled in the handler of a signal does not get to its end, and nobody else
 * gets the signal: the one that ends the program must not be handled by such a thread. */
static int create_without_term(pthread_t *thread, void *(*body)(void *), void *arg)
{
	sigset_t term, before;
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &term, &before);
	int rc = pthread_create(thread, NULL, body, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

/* Some of it while the thread is on its way into the next call, some while it waits there. */
KEEP u64 cancel_one(u64 round, void *(*body)(void *), int sig)
{
	struct reader r = {0};
	pthread_t thread;
	void *result;
	CALLED("cancel_one");
	if (pipe(r.pipe) || create_without_term(&thread, body, &r))
		abort();
	for (u64 i = 0; i < round % 3; i++)
		if (write(r.pipe[1], (unsigned char[]){(unsigned char)(round + i)}, 1) != 1)
			abort();
	while (atomic_load(&r.count) < round % 3)
		usleep(20);
	if (round % 4)
		usleep((unsigned)(round * round * 3));
	atomic_store(&r.cancelled, 1);
	if (sig ? pthread_kill(thread, sig) : pthread_cancel(thread))
		abort();
	if (pthread_join(thread, &result) || result != PTHREAD_CANCELED)
		abort();
	close(r.pipe[0]);
	close(r.pipe[1]);
	LEFT("cancel_one");
	return r.sum;
}

u64 victim_cancelled(void)
{
	struct sigaction act = {.sa_sigaction = cancel_handler,
				.sa_flags = SA_SIGINFO | SA_RESTART};
	int sig = SIGRTMIN + 4;
	u64 sum = 0;
	if (sigaction(sig, &act, NULL))
		abort();
	for (u64 i = 0; i < TIMES; i++)
		sum = sum * 31 + cancel_one(i, cancel_own, sig) + cancel_one(i, cancel_library, 0);
	return sum;
}
