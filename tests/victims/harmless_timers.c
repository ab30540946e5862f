/* Waits that only a signal of its own ends: each one-shot timer must end its wait with EINTR, once.
 * An EINTR that a tracer swallows makes this hang, one too many makes it count wrong. The handler
 * returns with the first argument of the wait in its register, so that nothing there tells a wait
 * that it returns to from one that was made again. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 300 };

static volatile sig_atomic_t ticks, profiles;
static int epoll;

static int on_alarm(int sig)
{
	(void)sig;
	ticks++;
	return epoll;
}

static void on_profile(int sig)
{
	(void)sig;
	profiles++;
}

static void set_timer(int which, long us)
{
	struct itimerval t = {{0, 0}, {0, us}};
	if (setitimer(which, &t, NULL))
		abort();
}

int main(void)
{
	sigset_t alarm_only, open;
	struct sigaction a = {.sa_handler = (void (*)(int))(void *)on_alarm};
	int early = 0, right = 0, wrong = 0;
	struct epoll_event ev;
	epoll = epoll_create1(0);
	sigaction(SIGALRM, &a, NULL);
	a.sa_handler = on_profile;
	sigaction(SIGVTALRM, &a, NULL);
	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm_only, &open);
	for (int i = 0; i < ROUNDS; i++) {
		int before = ticks;
		set_timer(ITIMER_REAL, 200 + i % 7 * 100);
		for (volatile int k = 0; k < i % 5 * 10000; k = k + 1)
			;
		int n = epoll_pwait(epoll, &ev, 1, -1, &open);
		early += ticks == before;
		right += n < 0 && errno == EINTR && ticks == before + 1;
		wrong += n >= 0;
	}
	for (int i = 0; i < 5; i++) {
		int before = profiles;
		set_timer(ITIMER_VIRTUAL, 2000);
		while (profiles == before)
			;
	}
	printf("ticks %d right %d early %d wrong %d virtual %d\n", (int)ticks, right, early, wrong,
	       (int)profiles);
	return 0;
}
