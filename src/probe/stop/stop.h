/* One stop of a target: where every thread is, in terms of the original program, and its stack. */
#pragma once
#include "probe/code/codespace.h"

struct stopped_walk {
	struct target *target;
	int tid;
	bool in_call;
	struct call_made call;      /* the system call that it is in */
	bool known;                 /* its registers could be read */
	bool unsettled;             /* it is inside a probe, and could not be brought out */
	bool interrupted;           /* it is in a signal handler, which interrupted a probe */
	struct registers registers; /* pc is the original one */
	bool probed;                /* it has executed the probes before that instruction */
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

/* With the target stopped: brings all threads out of probes and the runtime and walks their stacks.
 * Once more: what was found before is forgotten. */
void stop_settle(struct stop *s);
/* The stop is over: its walks are samples for free, told by walks_tell(). */
void stop_publish(struct stop *s);
/* The stop is over: its walks are nobody's. */
void stop_release(struct stop *s);
/* After stop_settle(): threads in moved code go to where they belong now. */
void stop_move_threads(const struct stop *s);

/* The walks of past stops, once; NULL: forgets them. */
void walks_tell(struct shared *s, walk_visitor visit, void *ctx);
void walks_forget(struct shared *s, const struct target *t);
