/* Sessions with probes in the program: what happens to processes. */
#pragma once
#include "probe/engine/engine.h"
#include "session/session.h"

struct probing;

/* What happened to a target: engine/engine.h. */
typedef void (*probing_handler)(void *own, const struct engine_event *v);

struct probing_ops {
	/* By enum engine_happening. A target that waits is let go afterwards; of a program that was
	 * started the session knows already that it has ended. */
	probing_handler handlers[ENGINE_HAPPENINGS];
	/* Time has passed; before what has happened is dealt with. May be NULL. */
	void (*passed)(void *own);
};

struct probing {
	struct session *session;
	struct engine *engine;
	const struct probing_ops *ops;
	struct target *first; /* the program as it was opened; NULL once it runs */
};

/* Launches or attaches. */
int probing_open(struct probing *p, int *not_started, struct err *e);
void probing_go(struct probing *p);
/* The program as it was opened is let go, for good. */
void probing_abandon(struct probing *p);
/* Deals with events, for at most timeout_ms. */
void probing_wait(struct probing *p, int timeout_ms);
/* A process runs without the privileges of its program (set-user-ID or the like): says so. */
void probing_tell_privileges(const struct probing *p, int pid);
