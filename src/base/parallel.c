#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fault.h"

enum { MAX_WORKERS = 64 };

struct job {
	parallel_fn fn;
	void *ctx;
	uint32_t count, batch;
	atomic_uint next;
};

struct worker {
	struct job *job;
	uint32_t number;
};

uint32_t parallel_workers(void)
{
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return 1;
	int n = CPU_COUNT(&set);
	return n < 1 ? 1 : n > MAX_WORKERS ? MAX_WORKERS : (uint32_t)n;
}

static void *run(void *arg)
{
	struct worker *w = arg;
	struct job *job = w->job;
	for (;;) {
		uint32_t first = atomic_fetch_add(&job->next, job->batch);
		if (first >= job->count)
			return NULL;
		uint32_t last = job->count - first < job->batch ? job->count : first + job->batch;
		for (uint32_t i = first; i < last; i++)
			job->fn(job->ctx, i, w->number);
	}
}

void parallel_for(uint32_t count, uint32_t batch, parallel_fn fn, void *ctx)
{
	struct job job = {.fn = fn, .ctx = ctx, .count = count, .batch = batch ? batch : 1};
	uint32_t wanted = parallel_workers(), others = count / job.batch;
	pthread_t threads[MAX_WORKERS];
	struct worker workers[MAX_WORKERS];
	uint32_t started = 0;
	if (wanted > others)
		wanted = others + 1;
	for (uint32_t i = 1; i < wanted; i++)
		workers[i] = (struct worker){.job = &job, .number = i};
	while (started + 1 < wanted && !fault("worker-start", EAGAIN) &&
	       !pthread_create(&threads[started], NULL, run, &workers[started + 1]))
		started++;
	run(&(struct worker){.job = &job, .number = 0});
	for (uint32_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
}

struct line {
	parallel_fn make;
	void *ctx;
	uint32_t count, ahead;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	uint32_t next, taken; /* the item to be made next; how many were taken */
	bool *made;           /* by place */
};

struct maker {
	struct line *line;
	uint32_t number;
};

static bool may_make(const struct line *l)
{
	return l->next < l->count && l->next - l->taken < l->ahead;
}

/* With the lock held, which is let go meanwhile. */
static void make_next(struct line *l, uint32_t worker)
{
	uint32_t item = l->next++;
	pthread_mutex_unlock(&l->lock);
	l->make(l->ctx, item, worker);
	pthread_mutex_lock(&l->lock);
	l->made[item % l->ahead] = true;
	pthread_cond_broadcast(&l->moved);
}

static void *make_all(void *arg)
{
	struct maker *m = arg;
	struct line *l = m->line;
	pthread_mutex_lock(&l->lock);
	while (l->next < l->count) {
		if (may_make(l))
			make_next(l, m->number);
		else
			pthread_cond_wait(&l->moved, &l->lock);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

static void take_all(struct line *l, void (*take)(void *ctx, uint32_t item))
{
	pthread_mutex_lock(&l->lock);
	while (l->taken < l->count) {
		bool *made = &l->made[l->taken % l->ahead];
		if (*made) {
			pthread_mutex_unlock(&l->lock);
			take(l->ctx, l->taken);
			pthread_mutex_lock(&l->lock);
			*made = false;
			l->taken++;
			pthread_cond_broadcast(&l->moved);
		} else if (may_make(l)) {
			make_next(l, 0);
		} else {
			pthread_cond_wait(&l->moved, &l->lock);
		}
	}
	pthread_mutex_unlock(&l->lock);
}

void parallel_in_order(uint32_t count, uint32_t ahead, parallel_fn make,
		       void (*take)(void *ctx, uint32_t item), void *ctx)
{
	struct line l = {.make = make, .ctx = ctx, .count = count, .ahead = ahead};
	uint32_t wanted = parallel_workers(), started = 0;
	pthread_t threads[MAX_WORKERS];
	struct maker makers[MAX_WORKERS];
	l.made = xcalloc(ahead, sizeof(*l.made));
	pthread_mutex_init(&l.lock, NULL);
	pthread_cond_init(&l.moved, NULL);
	for (uint32_t i = 1; i < wanted; i++)
		makers[i] = (struct maker){&l, i};
	while (started + 1 < wanted && started + 1 < count && !fault("maker-start", EAGAIN) &&
	       !pthread_create(&threads[started], NULL, make_all, &makers[started + 1]))
		started++;
	take_all(&l, take);
	for (uint32_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	pthread_cond_destroy(&l.moved);
	pthread_mutex_destroy(&l.lock);
	free(l.made);
}
