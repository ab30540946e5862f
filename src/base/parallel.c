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

/* State of parallel_in_order(): items are made on any thread and taken in order by one. */
struct pipeline {
	parallel_fn make;
	void *ctx;
	uint32_t count, ahead;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint32_t next, taken; /* the item to make next; the number of items taken */
	bool *made;           /* by item % ahead: made and not yet taken */
};

struct maker {
	struct pipeline *pipeline;
	uint32_t number;
};

/* Whether an item is left, and its place is free. */
static bool may_make(const struct pipeline *p)
{
	return p->next < p->count && p->next - p->taken < p->ahead;
}

/* Needs the lock, and releases it while it makes the item. */
static void make_next(struct pipeline *p, uint32_t worker)
{
	uint32_t item = p->next++;
	pthread_mutex_unlock(&p->lock);
	p->make(p->ctx, item, worker);
	pthread_mutex_lock(&p->lock);
	p->made[item % p->ahead] = true;
	pthread_cond_broadcast(&p->changed);
}

static void *make_all(void *arg)
{
	struct maker *m = arg;
	struct pipeline *p = m->pipeline;
	pthread_mutex_lock(&p->lock);
	while (p->next < p->count) {
		if (may_make(p))
			make_next(p, m->number);
		else
			pthread_cond_wait(&p->changed, &p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

static void take_all(struct pipeline *p, void (*take)(void *ctx, uint32_t item))
{
	pthread_mutex_lock(&p->lock);
	while (p->taken < p->count) {
		bool *made = &p->made[p->taken % p->ahead];
		if (*made) {
			pthread_mutex_unlock(&p->lock);
			take(p->ctx, p->taken);
			pthread_mutex_lock(&p->lock);
			*made = false;
			p->taken++;
			pthread_cond_broadcast(&p->changed);
		} else if (may_make(p)) {
			make_next(p, 0);
		} else {
			pthread_cond_wait(&p->changed, &p->lock);
		}
	}
	pthread_mutex_unlock(&p->lock);
}

void parallel_in_order(uint32_t count, uint32_t ahead, parallel_fn make,
		       void (*take)(void *ctx, uint32_t item), void *ctx)
{
	struct pipeline p = {.make = make, .ctx = ctx, .count = count, .ahead = ahead};
	uint32_t wanted = parallel_workers(), started = 0;
	pthread_t threads[MAX_WORKERS];
	struct maker makers[MAX_WORKERS];
	p.made = xcalloc(ahead, sizeof(*p.made));
	pthread_mutex_init(&p.lock, NULL);
	pthread_cond_init(&p.changed, NULL);
	for (uint32_t i = 1; i < wanted; i++)
		makers[i] = (struct maker){&p, i};
	while (started + 1 < wanted && started + 1 < count && !fault("maker-start", EAGAIN) &&
	       !pthread_create(&threads[started], NULL, make_all, &makers[started + 1]))
		started++;
	take_all(&p, take);
	for (uint32_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	pthread_cond_destroy(&p.changed);
	pthread_mutex_destroy(&p.lock);
	free(p.made);
}
