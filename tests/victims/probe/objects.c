/* Waits for objects that are told apart: locks, descriptors, children. Descriptors have numbers of
 * their own, so that everybody knows them. One round at a time, also by several threads. */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "victim.h"

enum { TICK_MS = 10, PIPE_IN = 0x40, PIPE_OUT = 0x41, FILE_FD = 0x42, SMALL = 30, LARGE = 8192 };

static pthread_mutex_t mutex_a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t mutex_b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t one_round = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t held;
static sem_t *made; /* in the first round, by a thread that is gone; nobody posts it */
static int rounds;
static int ready;

#define ADD(what, kind, n) TRUTH(what, kind, (u64)(n))

/* Where an object is, and the time that was spent waiting for it; the address is printed once. */
#define AT(name, object)                                                                           \
	do {                                                                                       \
		static int told;                                                                   \
		if (!__atomic_exchange_n(&told, 1, __ATOMIC_RELAXED)) {                            \
			ADD("at", name, &(object));                                                \
			ADD("size", name, sizeof(object));                                         \
		}                                                                                  \
	} while (0)
#define FOR(name, ...)                                                                             \
	do {                                                                                       \
		u64 begin = now_ns();                                                              \
		__VA_ARGS__;                                                                       \
		ADD("for", name, now_ns() - begin);                                                \
	} while (0)

KEEP void objects_sleep(void)
{
	struct timespec t = {0, TICK_MS * 1000000};
	CALLED("objects_sleep");
	ADD("waits", "sleep", 1);
	ADD("waits", "sleep@objects_sleep", 1);
	FOR("sleep", nanosleep(&t, NULL));
}

KEEP void objects_lock_a(void)
{
	CALLED("objects_lock_a");
	FOR("mutex_a", pthread_mutex_lock(&mutex_a));
	pthread_mutex_unlock(&mutex_a);
}

KEEP void objects_lock_b(void)
{
	CALLED("objects_lock_b");
	FOR("mutex_b", pthread_mutex_lock(&mutex_b));
	pthread_mutex_unlock(&mutex_b);
}

KEEP void objects_condition(void)
{
	CALLED("objects_condition");
	pthread_mutex_lock(&gate);
	while (!ready)
		FOR("condition", pthread_cond_wait(&condition, &gate));
	pthread_mutex_unlock(&gate);
}

KEEP void objects_barrier(void)
{
	CALLED("objects_barrier");
	FOR("barrier", pthread_barrier_wait(&barrier));
}

KEEP u64 objects_read(void)
{
	char bytes[64];
	CALLED("objects_read");
	ADD("waits", "read:40", 1);
	ADD("waits", "read:40@objects_read", 1);
	ADD("small", "read:40@objects_read", 1);
	ssize_t n;
	FOR("read", n = read(PIPE_IN, bytes, sizeof(bytes)));
	ADD("moved", "read:40", n);
	ADD("moved", "read:40@objects_read", n);
	return (u64)n;
}

static void put(size_t size)
{
	static const char bytes[LARGE];
	if (write(FILE_FD, bytes, size) != (ssize_t)size)
		abort();
	ADD("waits", "write:42", 1);
	ADD("moved", "write:42", size);
	if (size < 4096)
		ADD("small", "write:42", 1);
}

KEEP void objects_small(void)
{
	CALLED("objects_small");
	for (int i = 0; i < 40; i++) {
		put(SMALL);
		ADD("waits", "write:42@objects_small", 1);
		ADD("small", "write:42@objects_small", 1);
		ADD("moved", "write:42@objects_small", SMALL);
	}
}

KEEP void objects_large(void)
{
	CALLED("objects_large");
	for (int i = 0; i < 5; i++) {
		put(LARGE);
		ADD("waits", "write:42@objects_large", 1);
		ADD("moved", "write:42@objects_large", LARGE);
	}
}

/* Small if little was written since the last one. */
KEEP void objects_flush(int little)
{
	CALLED("objects_flush");
	fsync(FILE_FD);
	ADD("waits", "fsync:42", 1);
	ADD("waits", "fsync:42@objects_flush", 1);
	ADD("small", "fsync:42", little);
	ADD("small", "fsync:42@objects_flush", little);
}

KEEP void objects_file(void)
{
	CALLED("objects_file");
	objects_small();
	objects_flush(1);
	objects_large();
	objects_flush(0);
	objects_flush(1);
	ADD("waits", "write:42@objects_file", 45);
	ADD("small", "write:42@objects_file", 40);
	ADD("waits", "fsync:42@objects_file", 3);
	ADD("small", "fsync:42@objects_file", 2);
	ADD("moved", "write:42@objects_file", 40 * SMALL + 5 * LARGE);
}

static void *other(void *arg)
{
	pthread_mutex_lock(&mutex_a);
	pthread_mutex_lock(&mutex_b);
	sem_post(&held);
	objects_sleep();
	pthread_mutex_unlock(&mutex_a);
	objects_sleep();
	objects_sleep();
	pthread_mutex_unlock(&mutex_b);
	objects_sleep();
	pthread_mutex_lock(&gate);
	ready = 1;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&gate);
	objects_sleep();
	if (write(PIPE_OUT, "hello", 5) != 5)
		abort();
	ADD("waits", "write:41", 1);
	ADD("moved", "write:41", 5);
	objects_sleep();
	pthread_barrier_wait(&barrier);
	return arg;
}

/* Ends at once: its waits are those of a dead thread then. */
static void *brief(void *arg)
{
	put(SMALL);
	return arg;
}

KEEP void objects_make(sem_t *s)
{
	CALLED("objects_make");
	if (sem_init(s, 0, 0))
		abort();
	ADD("at", "made", s);
}

static void *maker(void *arg)
{
	made = malloc(sizeof(*made));
	objects_make(made);
	return arg;
}

static void wait_for_made(void)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += TICK_MS * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	if (!sem_timedwait(made, &until))
		abort();
}

static void make_and_wait(void)
{
	pthread_t t;
	if (pthread_create(&t, NULL, maker, NULL))
		abort();
	pthread_join(t, NULL);
	wait_for_made();
}

KEEP u64 objects_child(void)
{
	int status;
	CALLED("objects_child");
	pid_t pid = fork();
	if (!pid) {
		truth_forget();
		objects_small();
		objects_sleep();
		if (!rounds)
			wait_for_made();
		truth_tell();
		_exit(3);
	}
	FOR("child", waitpid(pid, &status, 0));
	ADD("children", "child", 1);
	return (u64)WEXITSTATUS(status);
}

static void open_all(void)
{
	char path[256];
	const char *folder = getenv("TMPDIR");
	int ends[2];
	snprintf(path, sizeof(path), "%s/objects-XXXXXX", folder ? folder : "/tmp");
	int fd = mkstemp(path);
	unlink(path);
	if (fd < 0 || pipe(ends) || dup2(ends[0], PIPE_IN) < 0 || dup2(ends[1], PIPE_OUT) < 0 ||
	    dup2(fd, FILE_FD) < 0)
		abort();
	close(fd);
	close(ends[0]);
	close(ends[1]);
}

static u64 wait_for_all(void)
{
	u64 sum = 0;
	sem_wait(&held);
	objects_lock_a();
	objects_lock_b();
	objects_condition();
	sum += objects_read();
	objects_barrier();
	return sum;
}

u64 victim_objects(void)
{
	pthread_t t;
	u64 sum;
	pthread_mutex_lock(&one_round);
	AT("mutex_a", mutex_a);
	AT("mutex_b", mutex_b);
	AT("condition", condition);
	AT("barrier", barrier);
	ready = 0;
	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&held, 0, 0);
	open_all();
	if (pthread_create(&t, NULL, other, NULL))
		abort();
	sum = wait_for_all();
	pthread_join(t, NULL);
	objects_file();
	for (int i = 0; i < 3; i++) {
		if (pthread_create(&t, NULL, brief, NULL))
			abort();
		pthread_join(t, NULL);
	}
	if (!rounds)
		make_and_wait();
	sum = sum * 31 + objects_child();
	rounds++;
	sum = sum * 31 + (u64)lseek(FILE_FD, 0, SEEK_CUR);
	close(PIPE_IN);
	close(PIPE_OUT);
	close(FILE_FD);
	pthread_barrier_destroy(&barrier);
	sem_destroy(&held);
	pthread_mutex_unlock(&one_round);
	return sum;
}
