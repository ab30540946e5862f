/* Measuring call paths of chosen functions while the program runs; functions and metrics come and
 * go at any time (N. R. Bernat and B. P. Miller's incremental call-path profiling).
 *
 *	path_start()                   attached or launched, the first functions in
 *	path_turn()                    again and again, until it says that it is over
 *	path_add(), path_remove(), path_metric()
 *	path_read()                    values up to now
 *	path_finish()                  everything out, the program left alone, the profile saved
 *	path_free()
 */
#pragma once
#include "path/profile.h"

struct path_options {
	char *const *argv; /* a program to start, or NULL */
	int pid;           /* else a process that runs */
	const char *const *functions;
	unsigned function_count;
	const char *const *metrics;
	unsigned metric_count;
	double max_cost; /* share of run time that measuring may take; 0: no limit */
	const char *output;
	/* Something that the user should know: one sentence. */
	void (*tell)(void *ctx, const char *sentence);
	void *ctx;
};

struct path_cost {
	uint64_t probe_ns, run_ns, hits;
};

struct path_session {
	const struct path_options *o;
	struct engine *engine;
	struct selector *selector;
	struct path_profile data;
	struct path_metrics metrics;
	struct path_cost cost;       /* since the start */
	struct batch_result batches; /* sums */
	double started, seconds;     /* s, CLOCK_MONOTONIC; how long so far */
	int program;                 /* the started program while it runs on, else 0 */
	int status;                  /* once it has ended, as of waitpid() */
	char problem[700];           /* why not all could be saved, or empty */
	struct path_private *own;    /* session.c's */
};

/* *not_started is the errno of exec, if that was what failed. On an error the program has not run,
 * or runs on as before. */
int path_start(struct path_session **out, const struct path_options *o, int *not_started,
	       struct err *e);
/* Looks what has happened, for at most timeout_ms; false once there is nothing more to measure or a
 * signal asked for the end. */
bool path_turn(struct path_session *s, int timeout_ms);

int path_add(struct path_session *s, const char *word, struct err *e);
int path_remove(struct path_session *s, const char *word, struct err *e);
int path_metric(struct path_session *s, const char *name, bool on, struct err *e);

void path_read(struct path_session *s);
/* Reads a last time, and leaves the program. */
void path_leave(struct path_session *s);
/* Saves; may take a while. */
void path_finish(struct path_session *s);
void path_free(struct path_session *s);
