#include "sample/sampler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The sampler that stops threads measures time and nothing else. */
static bool only_clocks(const struct sampler_options *o)
{
	for (unsigned i = 0; i < o->event_count; i++)
		if (!o->events[i].clock)
			return false;
	return true;
}

static int fall_back(struct sampler **out, const struct sampler_options *o, const char *why,
		     struct err *e)
{
	int rc = stop_sampler_new(out, o, e);
	if (!rc)
		snprintf(
			(*out)->note, sizeof((*out)->note),
			"threads are stopped for every sample, which has more overhead, because %s",
			why);
	return rc;
}

/* ---- for functions that the sink lacks ---- */

static void ignore_sample(void *ctx, const struct sample *s)
{
	(void)ctx;
	(void)s;
}

static void ignore_map(void *ctx, const struct mapping_event *m)
{
	(void)ctx;
	(void)m;
}

static void ignore_name(void *ctx, int pid, int tid, const char *comm)
{
	(void)ctx;
	(void)pid;
	(void)tid;
	(void)comm;
}

static void ignore_process(void *ctx, int pid)
{
	(void)ctx;
	(void)pid;
}

static void ignore_pair(void *ctx, int one, int other)
{
	(void)ctx;
	(void)one;
	(void)other;
}

static void ignore_lost(void *ctx, uint64_t samples)
{
	(void)ctx;
	(void)samples;
}

static struct sampler_sink with_all(struct sampler_sink s)
{
	s.sample = s.sample ? s.sample : ignore_sample;
	s.map = s.map ? s.map : ignore_map;
	s.name = s.name ? s.name : ignore_name;
	s.exec = s.exec ? s.exec : ignore_process;
	s.fork = s.fork ? s.fork : ignore_pair;
	s.thread = s.thread ? s.thread : ignore_pair;
	s.exit = s.exit ? s.exit : ignore_pair;
	s.lost = s.lost ? s.lost : ignore_lost;
	return s;
}

/* ---- the choice of the sampler ---- */

int sampler_new(struct sampler **out, const struct sampler_options *options, struct err *e)
{
	struct sampler_options all = *options, *o = &all;
	const char *demanded = getenv("SONDE_SAMPLER");
	struct err refused = {0};
	all.sink = with_all(options->sink);
	if (demanded && strcmp(demanded, "perf") != 0 && strcmp(demanded, "ptrace") != 0)
		return err_set(e, ERR_INPUT, "SONDE_SAMPLER is perf or ptrace, not '%s'", demanded);
	bool stop = demanded && !strcmp(demanded, "ptrace");
	if (stop && o->perf_only)
		return err_set(e, ERR_UNSUPPORTED, "SONDE_SAMPLER=ptrace excludes perf");
	if (stop)
		return fall_back(out, o, "SONDE_SAMPLER=ptrace was set", e);
	int rc = perf_sampler_new(out, o, &refused);
	if (!rc)
		return 0;
	if (rc == ERR_UNSUPPORTED && only_clocks(o) && !demanded && !o->perf_only)
		return fall_back(out, o, refused.text, e);
	*e = refused;
	return rc;
}
