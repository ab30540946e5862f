/* For sessions with probes in the program: starts or attaches to it, and passes on what happens to
 * its processes. */
#pragma once
#include "probe/engine/engine.h"
#include "session/session.h"

struct probing;

/* Called when something happened to a target: engine/engine.h. */
typedef void (*probing_handler)(void *own, const struct engine_event *v);

struct probing_ops {
	/* Indexed by enum engine_happening. If the target is stopped for the event, it is resumed
	 * after the handler. The end of the started program is reported to the session before the
	 * handler is called. */
	probing_handler handlers[ENGINE_HAPPENINGS];
	/* Called after each wait, before the event is handled. May be NULL. */
	void (*passed)(void *own);
};

struct probing {
	struct session *session;
	struct engine *engine;
	const struct probing_ops *ops;
	struct target *first; /* the program as it was opened; NULL once it runs */
};

void probing_init(struct probing *p, struct session *s, struct engine *engine,
		  const struct probing_ops *ops);
/* Launches the program, which does not run yet, or attaches to it. */
int probing_open(struct probing *p, int *not_started, struct err *e);

/* These are operations of the session, or parts of them. */

/* Lets a launched program run. */
int probing_go(struct session *s, int *not_started, struct err *e);
/* Leaves the program for good, unless probing_go() was called. */
void probing_abandon(struct session *s);
/* Handles events for at most timeout_ms. */
int probing_wait(struct session *s, int timeout_ms, struct err *e);

/* If a process runs without the privileges of its program (set-user-ID or the like), says so to the
 * user. */
void probing_report_privileges(const struct probing *p, int pid);
