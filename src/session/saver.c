#include "session/saver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"

/* ns. The period is below a second, because the time of one sampler run is added to it. */
static const uint64_t period = 800000000, longest_pause = 10000000000;

int saver_open(struct saver *s, struct profile *p, const char *path, struct err *e)
{
	*s = (struct saver){.profile = p, .pause = period};
	s->kept = access(path, F_OK) == 0;
	int rc = store_create(&s->store, path, e);
	if (rc)
		return rc;
	s->path = strcpy(xmalloc(strlen(path) + 1), path);
	return saver_save(s) ? 0 : (*e = s->problem, s->problem.code);
}

bool saver_save(struct saver *s)
{
	struct err e = {0};
	s->failed = store_commit(s->store, s->profile, &e) != 0;
	if (s->failed)
		s->problem = e;
	s->pause = !s->failed                     ? period
		   : s->pause * 2 < longest_pause ? s->pause * 2
						  : longest_pause;
	s->next = now_ns() + s->pause;
	debug(LOG_RECORD, 1, "saved %u nodes, %u values%s%s", s->profile->nodes.len,
	      s->profile->values.len, s->failed ? ": " : "", s->failed ? e.text : "");
	return !s->failed;
}

void saver_tick(struct saver *s)
{
	if (now_ns() >= s->next)
		saver_save(s);
}

void saver_close(struct saver *s)
{
	store_close(s->store);
	free(s->path);
	s->store = NULL;
	s->path = NULL;
}

void saver_undo(struct saver *s)
{
	struct text old = TEXT_INIT;
	text_printf(&old, "%s.old", s->path);
	store_close(s->store);
	if (s->kept)
		rename(old.data, s->path);
	else
		unlink(s->path);
	text_release(&old);
	free(s->path);
	s->store = NULL;
	s->path = NULL;
}
