#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

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
	while (started + 1 < wanted &&
	       !pthread_create(&threads[started], NULL, run, &workers[started + 1]))
		started++;
	run(&(struct worker){.job = &job, .number = 0});
	for (uint32_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
}
