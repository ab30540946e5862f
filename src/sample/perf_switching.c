/* Threads that get and give up a CPU very often.
 *
 * Each time, the kernel stops the clocks of the events of one thread and starts those of another. A
 * program that passes messages does that 100,000 times per second, and runs several percent longer.
 * Events of CPUs go on as they are, so they replace those of threads here as well (perf_wide.c). */
#include "process/threads.h"
#include "sample/perf_sampler.h"

enum {
	LOOK_NS = NS_PER_SECOND / 4,
	MOST_LOOKS = 16, /* at threads, each time */
	OFTEN = 10000,   /* turns per second, of these threads together */
};

/* How often the thread has got a CPU since the last look. */
static uint64_t new_turns(struct thread *t)
{
	uint64_t waits, turns, before = t->turns;
	if (!thread_turns(t->tid, &waits, &turns))
		return 0;
	t->turns = turns;
	return before && turns > before ? turns - before : 0;
}

void perf_count_switches(struct perf_sampler *p, uint64_t now)
{
	uint64_t turns = 0, passed = now - p->counted;
	unsigned looks = 0;
	if (p->wide || p->narrow || p->counted == UINT64_MAX || passed < LOOK_NS)
		return;
	p->counted = now;
	for (uint32_t i = 0; i < p->threads.len && looks < MOST_LOOKS; i++) {
		struct thread *t = &p->threads.data[i];
		if (!t->reported || !t->sampled)
			continue;
		turns += new_turns(t);
		looks++;
	}
	if (turns * NS_PER_SECOND / OFTEN > passed && !perf_go_wide(p, "many switches"))
		p->counted = UINT64_MAX;
}
