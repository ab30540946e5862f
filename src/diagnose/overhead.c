#include "diagnose/overhead.h"

#include <math.h>
#include <time.h>

#include "base/vec.h"
#include "diagnose/machine.h"
#include "process/threads.h"

/* s that the program loses with each sample: the interrupt, and copying its registers and stack. */
static const double sample_time = 4e-6;
static const double mark_pause = 0.034; /* s between marks: together they cover about a second */

static double own_cpu_time(void)
{
	struct timespec t;
	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t))
		return 0;
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* While threads of the program are ready to run, they may be waiting for Sonde, for each other, or
 * for other programs: that is divided by how much CPU time they have. */
static double contention_since(struct overhead *o, double own, double ready)
{
	double busy = 1e-9 * (double)cpus_busy_ns();
	double ours = own - o->own, whole = fmax(busy - o->busy, ours);
	double by = whole > 0 ? (ready - o->ready) * ours / whole : 0;
	o->own = own;
	o->ready = ready;
	o->busy = busy;
	return fmin(fmax(by, 0), ours);
}

void overhead_step(struct overhead *o, const struct machine *m, const struct overhead_reading *r)
{
	const uint32_t n = ARRAY_SIZE(o->marks);
	if (!o->marked || o->sums.time - o->marks[(o->marked - 1) % n].time >= mark_pause)
		o->marks[o->marked++ % n] = o->sums;
	o->sums.contention += contention_since(o, own_cpu_time(), m->ready_all);
	o->sums.time = m->time;
	o->sums.run = m->cpu_all;
	o->sums.stops = r->stops;
	o->sums.probes = r->probes;
	o->sums.samples = sample_time * (double)r->samples;
}

/* The time that the program lost. */
static double lost_between(const struct overhead_sums *a, const struct overhead_sums *b)
{
	double time = b->time - a->time, run = fmax(b->run - a->run, time);
	double of_threads =
		b->probes - a->probes + b->samples - a->samples + b->contention - a->contention;
	double lost = b->stops - a->stops + (run > 0 ? of_threads * time / run : 0);
	return fmin(fmax(lost, 0), time);
}

static double share(double lost, double seconds, double around)
{
	double alone = seconds - lost;
	return alone > 0 ? (lost + around) / alone : 0;
}

/* The oldest mark; all zero if there is none. */
static struct overhead_sums a_second_ago(const struct overhead *o)
{
	const uint32_t n = ARRAY_SIZE(o->marks), have = o->marked < n ? o->marked : n;
	return have ? o->marks[(o->marked - have) % n] : (struct overhead_sums){0};
}

double overhead_now(const struct overhead *o)
{
	struct overhead_sums from = a_second_ago(o);
	return share(lost_between(&from, &o->sums), o->sums.time - from.time, 0);
}

double overhead_of_probing(const struct overhead *o)
{
	struct overhead_sums from = a_second_ago(o), to = o->sums;
	to.samples = from.samples;
	to.contention = from.contention;
	return share(lost_between(&from, &to), to.time - from.time, 0);
}

double overhead_whole(const struct overhead *o, double seconds, double around)
{
	return share(lost_between(&(struct overhead_sums){0}, &o->sums), seconds, around);
}
