/* Starting a program that a sampler observes. It waits just before its first instruction until
 * everything is in place. */
#pragma once
#include "process/launch.h"
#include "sample/sampler.h"
#include "session/session.h"

struct starting {
	struct launch launch;
	bool prepared; /* the program waits to be let go */
};

/* Launches the program of the session's options, and lets the sampler watch it. A program that
 * cannot be started is let go at once, so that it fails here: a typing error must not replace the
 * previous profile. */
int starting_open(struct starting *s, struct session *session, struct sampler *sampler,
		  int *not_started, struct err *e);
/* Lets it run, if it is there. */
int starting_go(struct starting *s, struct session *session, int *not_started, struct err *e);
/* A program that was not let go ends without having run anything. */
void starting_abandon(struct starting *s);
