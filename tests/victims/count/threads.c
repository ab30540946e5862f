/* Threads that do the same different numbers of times; that end inside loops, and where others are
 * called from. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "truth.h"

enum { WORKERS = TRUTH_THREADS - 1 };

KEEP u64 thread_leaf(u64 x)
{
	CALLED(thread_leaf);
	return x * 7 + 3;
}

KEEP u64 thread_loop(u64 n)
{
	LOOP(threaded_outer);
	LOOP(threaded);
	u64 x = n;
	CALLED(thread_loop);
	ENTER(threaded_outer);
	for (u64 i = 0; i < n; i++) {
		ITER(threaded_outer);
		x ^= thread_leaf(i);
		ENTER(threaded);
		for (u64 j = 0; j < i; j++) {
			ITER(threaded);
			x = x * 3 + j;
			BARRIER();
		}
		LEAVE(threaded);
	}
	LEAVE(threaded_outer);
	return x;
}

KEEP void thread_leave(u64 n, u64 *to)
{
	LOOP(left_by_thread);
	CALLED(thread_leave);
	ENTER(left_by_thread);
	for (u64 i = 0;; i++) {
		ITER(left_by_thread);
		BRANCH(i & 1);
		*to = thread_leaf(*to);
		if (i == n) {
			LEAVE(left_by_thread);
			pthread_exit(NULL);
		}
	}
}

/* Deeper, by its own cancellation. */
KEEP void thread_cancel(u64 n, u64 *to)
{
	LOOP(cancelled);
	CALLED(thread_cancel);
	ENTER(cancelled);
	for (u64 i = 0;; i++) {
		ITER(cancelled);
		BRANCH(i & 1);
		*to = thread_leaf(*to);
		if (i == n % 3) {
			LEAVE(cancelled);
			if (n)
				thread_cancel(n - 1, to);
			pthread_cancel(pthread_self());
			pthread_testcancel();
			return; /* cannot be, and the compiler does not know */
		}
	}
}

struct job {
	pthread_t thread;
	unsigned number;
	u64 sum;
};

KEEP void *thread_begin(void *arg)
{
	struct job *j = arg;
	truth_begin_thread(j->number);
	CALLED(thread_begin);
	j->sum = thread_loop(j->number * 5);
	if (j->number == 2)
		thread_leave(11, &j->sum);
	if (j->number == 3)
		thread_cancel(5, &j->sum);
	j->sum ^= thread_loop(j->number);
	return NULL;
}

u64 victim_threads(void)
{
	struct job jobs[WORKERS];
	u64 sum = thread_loop(4);
	for (unsigned i = 0; i < WORKERS; i++) {
		jobs[i].number = i + 1;
		jobs[i].sum = 0;
		if (pthread_create(&jobs[i].thread, NULL, thread_begin, &jobs[i]))
			abort();
	}
	sum += thread_loop(6);
	for (unsigned i = 0; i < WORKERS; i++) {
		pthread_join(jobs[i].thread, NULL);
		sum = sum * 31 + jobs[i].sum;
	}
	return sum;
}
