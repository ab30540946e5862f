/* Waits in every way that a stop can end with EINTR, with work in between; nobody but a tracer
 * interrupts it, so it must never see one. Meanwhile signals come that it ignores, which must not
 * end a wait either. */
#include <errno.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 30, WAITS = 10 };

static const char *const names[WAITS] = {"epoll_wait", "semtimedop",  "sigtimedwait", "nanosleep",
					 "poll",       "futex",       "read",         "recv",
					 "select",     "io_getevents"};
static int epoll, semaphore, sockets[2], pipes[2];
static aio_context_t aio;
static int interrupted[WAITS];
static volatile int done;

static int wait_in(int way)
{
	struct timespec ms = {0, 400000};
	struct timeval us = {0, 400};
	struct epoll_event ev;
	struct sembuf down = {0, -1, 0};
	sigset_t set;
	struct io_event done_io;
	char text[64];
	int word = 0;
	struct pollfd p = {pipes[0], POLLIN, 0};
	switch (way) {
	case 0: return epoll_wait(epoll, &ev, 1, 1);
	case 1: return semtimedop(semaphore, &down, 1, &ms);
	case 2:
		sigemptyset(&set);
		sigaddset(&set, SIGRTMIN);
		return sigtimedwait(&set, NULL, &ms);
	case 3: return nanosleep(&ms, NULL);
	case 4: return poll(&p, 1, 1);
	case 5: return (int)syscall(SYS_futex, &word, FUTEX_WAIT, 0, &ms, NULL, 0);
	case 6: return (int)read(pipes[0], text, 1);
	case 7: return (int)recv(sockets[0], text, sizeof(text), 0);
	case 8: return select(0, NULL, NULL, NULL, &us);
	default: return (int)syscall(SYS_io_getevents, aio, 1, 1, &done_io, &ms);
	}
}

static unsigned work(unsigned x)
{
	for (int i = 0; i < 20000; i++)
		x = x * 1103515245u + 12345u;
	return x;
}

/* Feeds the one that has no timeout of its own, and now and then sends what is to be ignored. */
static void *feed(void *arg)
{
	pthread_t victim = *(pthread_t *)arg;
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	for (int i = 0; !done; i++) {
		usleep(3000);
		if (write(pipes[1], "x", 1) != 1)
			abort();
		if (i % 8)
			continue;
		pthread_kill(victim, SIGWINCH);
		pthread_kill(victim, SIGUSR1);
	}
	return NULL;
}

static void prepare(void)
{
	struct timeval short_time = {0, 500};
	epoll = epoll_create1(0);
	semaphore = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
	if (pipe(pipes) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		abort();
	setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &short_time, sizeof(short_time));
	if (syscall(SYS_io_setup, 1, &aio))
		abort();
	signal(SIGUSR1, SIG_IGN);
}

int main(void)
{
	pthread_t feeder, me = pthread_self();
	unsigned sum = 1;
	prepare();
	if (pthread_create(&feeder, NULL, feed, &me))
		abort();
	for (int i = 0; i < ROUNDS; i++)
		for (int way = 0; way < WAITS; way++) {
			sum = work(sum);
			if (wait_in(way) < 0 && errno == EINTR)
				interrupted[way]++;
		}
	done = 1;
	pthread_join(feeder, NULL);
	semctl(semaphore, 0, IPC_RMID);
	for (int way = 0; way < WAITS; way++)
		printf("%s %d\n", names[way], interrupted[way]);
	printf("sum %u\n", sum);
	return 0;
}
