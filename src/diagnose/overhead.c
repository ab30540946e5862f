#include "diagnose/overhead.h"

#include <math.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/vec.h"
#include "diagnose/machine.h"
#include "process/threads.h"
#include "sample/sampler.h"

/* Threads that spin for this share of their CPU time run in step. */
static const double spinning_share = 0.01;
static const double mark_pause = 0.034; /* s between marks: together they cover about a second */

static double own_cpu_time(void)
{
	struct timespec t;
	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t))
		return 0;
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The oldest mark; all zero if there is none. */
static struct overhead_sums a_second_ago(const struct overhead *o)
{
	const uint32_t n = ARRAY_SIZE(o->marks), have = o->marked < n ? o->marked : n;
	return have ? o->marks[(o->marked - have) % n] : (struct overhead_sums){0};
}

/* The share of Sonde's CPU time for which no other CPU was idle. Somebody lacked it then, also if
 * the program's threads live too short to be seen waiting for a CPU. */
static double share_without_idle(const struct overhead *o)
{
	struct overhead_sums from = a_second_ago(o);
	double own = o->sums.own - from.own;
	double idle = o->cpus * (o->sums.time - from.time) - (o->sums.busy - from.busy);
	return own > 0 ? fmin(fmax(1 - idle / own, 0), 1) : 0;
}

/* While threads of the program are ready to run, each CPU that Sonde has is one that they, or other
 * programs, lack: that is divided by how much CPU time these have. */
static double contention(const struct overhead *o, double own, const struct machine *m)
{
	struct overhead_sums from = a_second_ago(o);
	double run = o->sums.run - from.run;
	double others = o->sums.busy - from.busy - (o->sums.own - from.own);
	double had = own - o->sums.own;
	double lacked =
		fmax(fmin(had, fmax(m->ready_all - o->ready, 0)), had * share_without_idle(o));
	return run > 0 && others > run ? lacked * run / others : lacked;
}

/* The CPU time that the program lacked, and who had it. */
static void read_cpus(struct overhead *o, const struct machine *m)
{
	double own = own_cpu_time();
	if (o->marked)
		o->sums.contention += contention(o, own, m);
	o->ready = m->ready_all;
	o->sums.own = own;
	o->sums.busy = 1e-9 * (double)cpus_busy_ns();
	o->sums.run = m->cpu_all;
}

void overhead_step(struct overhead *o, const struct machine *m, const struct overhead_reading *r)
{
	const uint32_t n = ARRAY_SIZE(o->marks);
	if (r->samples && o->sample_time <= 0)
		o->sample_time = sample_overhead();
	if (o->cpus <= 0)
		o->cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
	read_cpus(o, m);
	o->sums.time = m->time;
	o->sums.spun = r->spun;
	o->sums.stops = r->stops;
	o->sums.probes = r->probes;
	o->sums.samples = o->sample_time * (double)r->samples;
	if (!o->marked || o->sums.time - o->marks[(o->marked - 1) % n].time >= mark_pause)
		o->marks[o->marked++ % n] = o->sums;
}

/* The time that the program lost. Alone, its threads would not have run what was put into them, and
 * would have had the CPU time that they lacked: they would have come as far in less time. Of
 * threads that spin for each other, what delays one delays all. */
static double lost_between(const struct overhead_sums *a, const struct overhead_sums *b)
{
	double time = b->time - a->time, run = fmax(b->run - a->run, time);
	double added = b->probes - a->probes + b->samples - a->samples;
	double lacked = b->contention - a->contention;
	bool apart = b->spun - a->spun < spinning_share * run;
	double lost = b->stops - a->stops;
	if (!apart)
		lost += added + lacked;
	else if (run > 0)
		lost += time * (added + lacked) / (run + lacked);
	return fmin(fmax(lost, 0), time);
}

static double share(double lost, double seconds, double around)
{
	double alone = seconds - lost;
	return alone > 0 ? (lost + around) / alone : 0;
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
	debug(LOG_SEARCH, 1,
	      "overhead: %.3f s before and after; stopped for %.3f s; probes %.3f s, samples %.3f "
	      "s, "
	      "contention %.3f s of %.3f s CPU time",
	      around, o->sums.stops, o->sums.probes, o->sums.samples, o->sums.contention,
	      o->sums.run);
	return share(lost_between(&(struct overhead_sums){0}, &o->sums), seconds, around);
}
