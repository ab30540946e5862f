/* One stop of a target: where every thread is, in terms of the original program, and its stack. */
#pragma once
#include "probe/code/codespace.h"

struct stopped_walk {
	struct target *target;
	int tid;
	bool in_call;
	struct call_made call;      /* the system call that it is in */
	bool known;                 /* its registers could be read */
	bool unsettled;             /* it is inside a probe, and did not get out in time */
	bool interrupted;           /* it is in a signal handler that interrupted a probe */
	struct registers registers; /* with the original pc */
	bool probed;                /* it has executed the probes before that instruction */
	bool newborn;               /* it got its area in this stop */
	struct walk walk;
};

struct stopped_walks {
	struct stopped_walk *data;
	uint32_t len, cap;
};

struct stop {
	struct target *target;
	struct stopped_walks walks; /* of all threads */
	bool clean;                 /* no thread is in code memory, and no stack leads there */
};

/* With the target stopped: brings all threads out of probes and the runtime, and walks their
 * stacks. It may be called again; that discards the previous walks. */
void stop_settle(struct stop *s);
/* Ends the stop, and keeps its walks for walks_report(): they are samples without extra
 * overhead. */
void stop_publish(struct stop *s);
/* Ends the stop, and discards its walks. */
void stop_release(struct stop *s);
/* After stop_settle(): gives areas to threads that have none, because they were born since the last
 * stop (engine_on_demand()). */
void stop_introduce(struct stop *s);
/* After stop_settle(): moves threads that are in moved code to where they belong now. */
void stop_move_threads(const struct stop *s);

/* Visits the walks of past stops, each once; visit NULL: only discards them. */
void walks_report(struct shared *s, walk_visitor visit, void *ctx);
/* Discards the walks of a target that is about to be freed. */
void walks_forget(struct shared *s, const struct target *t);
