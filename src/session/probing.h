/* For sessions with probes in the program: starts or attaches to it, and passes on what happens to
 * its processes. */
#pragma once
#include "probe/engine/engine.h"
#include "session/session.h"

struct probing;

/* Called when something happened to a target: engine/engine.h. */
typedef void (*probing_handler)(void *own, const struct engine_event *v);

struct probing_ops {
	/* By enum engine_happening. A target that is stopped for the event is let go afterwards. If
	 * the started program has ended, the session knows that already. */
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

/* Launches or attaches. */
int probing_open(struct probing *p, int *not_started, struct err *e);
void probing_go(struct probing *p);
/* Lets the program go as it was opened, for good. */
void probing_abandon(struct probing *p);
/* Handles events for at most timeout_ms. */
void probing_wait(struct probing *p, int timeout_ms);
/* Tells the user if a process runs without the privileges of its program (set-user-ID or the like).
 */
void probing_report_privileges(const struct probing *p, int pid);
