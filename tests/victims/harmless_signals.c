/* Sends itself every signal in every way, and counts what arrives; signals with values arrive with
 * them, in order. Some are ignored, some blocked for a time. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROUNDS = 40 };

static volatile sig_atomic_t caught[65];
static volatile unsigned long values, traps;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)context;
	caught[sig]++;
	if (info->si_code == SI_QUEUE)
		values = values * 31 + (unsigned long)info->si_value.sival_int;
}

static int usable(int sig)
{
	return sig != SIGKILL && sig != SIGSTOP && !(sig >= 32 && sig < SIGRTMIN);
}

static void catch_all(void)
{
	struct sigaction a = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		if (usable(sig) && sigaction(sig, &a, NULL))
			abort();
}

static void send_all(int round)
{
	for (int sig = 1; sig <= SIGRTMAX; sig++) {
		union sigval value = {.sival_int = sig * 1000 + round};
		if (!usable(sig))
			continue;
		raise(sig);
		kill(getpid(), sig);
		sigqueue(getpid(), sig, value);
		syscall(SYS_tgkill, getpid(), gettid(), sig);
	}
}

/* Queued while blocked: real-time signals arrive all, the others once. */
static void send_blocked(int round)
{
	sigset_t all, before;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	for (int i = 0; i < 3; i++)
		for (int sig = SIGRTMIN; sig <= SIGRTMAX; sig++)
			sigqueue(getpid(), sig, (union sigval){.sival_int = round * 3 + i});
	for (int i = 0; i < 3; i++)
		raise(SIGUSR1);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static void ignore_some(void)
{
	signal(SIGUSR2, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGWINCH, SIG_DFL);
	for (int i = 0; i < 50; i++) {
		raise(SIGUSR2);
		raise(SIGCHLD);
		raise(SIGWINCH);
		raise(SIGURG);
	}
}

int main(void)
{
	unsigned long sum = 0;
	catch_all();
	for (int round = 0; round < ROUNDS; round++) {
		send_all(round);
		send_blocked(round);
	}
	ignore_some();
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		sum = sum * 17 + (unsigned long)caught[sig];
	printf("trap %d chld %d cont %d tstp %d usr1 %d rtmax %d\n", (int)caught[SIGTRAP],
	       (int)caught[SIGCHLD], (int)caught[SIGCONT], (int)caught[SIGTSTP],
	       (int)caught[SIGUSR1], (int)caught[SIGRTMAX]);
	printf("counts %lx values %lx\n", sum, values);
	fflush(stdout);
	signal(SIGTERM, SIG_DFL);
	raise(SIGTERM); /* its end by a signal is seen, too */
	return 1;
}
