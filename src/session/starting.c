#include "session/starting.h"

#include <unistd.h>

#include "session/signals.h"

int starting_go(struct starting *s, struct session *session, int *not_started, struct err *e)
{
	if (!s->prepared)
		return 0;
	s->prepared = false;
	signals_install(s->launch.pid);
	int rc = launch_go(&s->launch, session->o->argv[0], not_started, e);
	if (!rc)
		session->program = s->launch.pid;
	return rc;
}

int starting_open(struct starting *s, struct session *session, struct sampler *sampler,
		  int *not_started, struct err *e)
{
	char *const *argv = session->o->argv;
	bool can = launch_can_start(argv[0]);
	int rc = launch_prepare(&s->launch, argv, e);
	s->prepared = !rc;
	if (rc || can)
		return rc ? rc : sampler->ops->watch(sampler, s->launch.pid, true, true, e);
	return starting_go(s, session, not_started, e);
}

void starting_abandon(struct starting *s)
{
	if (!s->prepared)
		return;
	close(s->launch.go);
	close(s->launch.failed);
	s->prepared = false;
}
