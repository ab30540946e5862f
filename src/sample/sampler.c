#include "sample/sampler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stopping threads measures time and nothing else. */
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
		snprintf((*out)->note, sizeof((*out)->note),
			 "threads are stopped for every sample, which disturbs them more, because "
			 "%s",
			 why);
	return rc;
}

int sampler_new(struct sampler **out, const struct sampler_options *o, struct err *e)
{
	const char *demanded = getenv("SONDE_SAMPLER");
	struct err refused = {0};
	if (demanded && strcmp(demanded, "perf") != 0 && strcmp(demanded, "ptrace") != 0)
		return err_set(e, ERR_INPUT, "SONDE_SAMPLER is perf or ptrace, not '%s'", demanded);
	if (demanded && !strcmp(demanded, "ptrace"))
		return fall_back(out, o, "SONDE_SAMPLER=ptrace demands it", e);
	int rc = perf_sampler_new(out, o, &refused);
	if (!rc)
		return 0;
	if (rc == ERR_UNSUPPORTED && only_clocks(o) && !demanded)
		return fall_back(out, o, refused.text, e);
	*e = refused;
	return rc;
}
