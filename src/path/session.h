/* Measures call paths of chosen functions while the program runs. Functions and metrics can be
 * added and removed at any time (N. R. Bernat and B. P. Miller's incremental call-path profiling).
 *
 *	path_new()
 *	session_start()                attached or launched, with the first functions
 *	path_add(), path_remove(), path_metric()
 *	path_read()                    values up to now
 *	... as in session/session.h
 *	path_free()
 */
#pragma once
#include "path/profile.h"
#include "session/probing.h"

struct path_options {
	struct session_options session;
	const char *const *functions;
	unsigned function_count;
	const char *const *metrics;
	unsigned metric_count;
	double max_overhead; /* overhead limit: share of run time; 0: none */
};

struct path_overhead {
	uint64_t probe_ns, run_ns, hits;
};

struct path_session {
	struct session session;
	struct probing probing;
	const struct path_options *o;
	struct selector *selector;
	struct path_profile data;
	struct path_metrics metrics;
	struct path_overhead overhead; /* since the start */
	struct batch_result batches;   /* sums */
	struct path_private *own;      /* session.c's */
};

struct path_session *path_new(const struct path_options *o);

int path_add(struct path_session *s, const char *word, struct err *e);
int path_remove(struct path_session *s, const char *word, struct err *e);
int path_metric(struct path_session *s, const char *name, bool on, struct err *e);

void path_read(struct path_session *s);
void path_free(struct path_session *s);
