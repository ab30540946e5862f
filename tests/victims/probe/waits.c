/* Waits of known length, each in a function of its own, which measures itself. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "victim.h"

enum { WAIT_MS = 30 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t all = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;

static void sleep_ms(unsigned ms)
{
	struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
	while (nanosleep(&t, &t))
		;
}

#define MEASURED(kind, name, ...)                                                                  \
	do {                                                                                       \
		u64 begin = now_ns();                                                              \
		__VA_ARGS__;                                                                       \
		TRUTH(kind, name, now_ns() - begin);                                               \
	} while (0)

KEEP void wait_mutex(void)
{
	CALLED("wait_mutex");
	MEASURED("sync", "wait_mutex", pthread_mutex_lock(&mutex));
	pthread_mutex_unlock(&mutex);
}

KEEP void wait_condition(void)
{
	CALLED("wait_condition");
	pthread_mutex_lock(&mutex);
	while (!ready)
		MEASURED("sync", "wait_condition", pthread_cond_wait(&condition, &mutex));
	pthread_mutex_unlock(&mutex);
}

KEEP void wait_barrier(pthread_barrier_t *b)
{
	CALLED("wait_barrier");
	MEASURED("sync", "wait_barrier", pthread_barrier_wait(b));
}

KEEP void wait_semaphore(sem_t *s)
{
	CALLED("wait_semaphore");
	MEASURED("sync", "wait_semaphore", sem_wait(s));
}

KEEP void wait_join(pthread_t t)
{
	CALLED("wait_join");
	MEASURED("sync", "wait_join", pthread_join(t, NULL));
}

KEEP u64 wait_read(int fd)
{
	char bytes[100];
	ssize_t n;
	CALLED("wait_read");
	MEASURED("io", "wait_read", n = read(fd, bytes, sizeof(bytes)));
	TRUTH("bytes", "wait_read", (u64)n);
	return (u64)n + (u64)bytes[0];
}

KEEP u64 wait_poll(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	CALLED("wait_poll");
	int n;
	MEASURED("io", "wait_poll", n = poll(&p, 1, WAIT_MS));
	return (u64)n;
}

KEEP u64 wait_fsync(int fd)
{
	CALLED("wait_fsync");
	u64 n = 0;
	for (int i = 0; i < 20; i++) {
		char bytes[4096];
		memset(bytes, i, sizeof(bytes));
		MEASURED("io", "wait_fsync", n += (u64)pwrite(fd, bytes, sizeof(bytes), 0));
		TRUTH("bytes", "wait_fsync", sizeof(bytes));
	}
	MEASURED("io", "wait_fsync", fsync(fd));
	return n;
}

/* Neither waits nor blocks: it computes. */
KEEP u64 wait_not(void)
{
	u64 x = 1, begin = now_ns();
	CALLED("wait_not");
	while (now_ns() - begin < 20000000)
		x = mix(x);
	TRUTH("sync", "wait_not", 0);
	TRUTH("io", "wait_not", 0);
	TRUTH("wall", "wait_not", now_ns() - begin);
	return x != 0;
}

struct shared {
	pthread_barrier_t barrier;
	sem_t semaphore;
	int pipe[2];
};

static void *other(void *arg)
{
	struct shared *s = arg;
	pthread_mutex_lock(&mutex);
	pthread_barrier_wait(&s->barrier);
	sleep_ms(WAIT_MS);
	pthread_mutex_unlock(&mutex);
	sleep_ms(WAIT_MS);
	pthread_mutex_lock(&mutex);
	ready = 1;
	pthread_cond_broadcast(&condition);
	pthread_mutex_unlock(&mutex);
	sleep_ms(WAIT_MS);
	sem_post(&s->semaphore);
	sleep_ms(WAIT_MS);
	if (write(s->pipe[1], "hello", 5) != 5)
		abort();
	sleep_ms(WAIT_MS);
	pthread_barrier_wait(&s->barrier);
	sleep_ms(WAIT_MS);
	return NULL;
}

static int scratch_file(void)
{
	char path[256];
	const char *folder = getenv("TMPDIR");
	snprintf(path, sizeof(path), "%s/waits-XXXXXX", folder ? folder : "/tmp");
	int fd = mkstemp(path);
	unlink(path);
	return fd;
}

u64 victim_waits(void)
{
	struct shared s;
	pthread_t t;
	u64 sum = 0;
	pthread_mutex_lock(&all);
	ready = 0;
	pthread_barrier_init(&s.barrier, NULL, 2);
	sem_init(&s.semaphore, 0, 0);
	if (pipe(s.pipe) || pthread_create(&t, NULL, other, &s))
		abort();
	pthread_barrier_wait(&s.barrier);
	wait_mutex();
	wait_condition();
	wait_semaphore(&s.semaphore);
	sum += wait_read(s.pipe[0]);
	wait_barrier(&s.barrier);
	wait_join(t);
	sum += wait_poll(s.pipe[0]) + wait_not();
	int fd = scratch_file();
	sum += wait_fsync(fd);
	close(fd);
	close(s.pipe[0]);
	close(s.pipe[1]);
	pthread_barrier_destroy(&s.barrier);
	sem_destroy(&s.semaphore);
	pthread_mutex_unlock(&all);
	return sum;
}
