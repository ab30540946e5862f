/* `sonde diagnose` without its output: starts a program or attaches to it, samples it, and searches
 * for what makes it slow.
 *
 *	diagnose_new()
 *	session_start() ...   as in session/session.h
 *	diagnose_free()
 */
#pragma once
#include "search/search.h"
#include "session/probing.h"

struct diagnose_options {
	struct session_options session;
	bool loops;      /* loops are parts of the search */
	bool long_names; /* of functions, in findings */
	struct search_options search;
};

struct diagnosis {
	struct session session; /* session.ended may also be "exhausted" */
	struct probing probing;
	const struct diagnose_options *o;
	struct profile profile;
	double overhead;                 /* overhead at present: share of the program's time */
	uint32_t active, found, refuted; /* experiments: not decided, true, false */
	bool settled;   /* nothing is left to test while the program behaves as it does now */
	char note[700]; /* why perf is not used, or what it cannot do */
	struct diagnose_private *own;
};

struct diagnosis *diagnose_new(const struct diagnose_options *o);
void diagnose_free(struct diagnosis *d);

/* Lists the strongest findings so far, one line each, at most `most`. Returns their number. The
 * lines are valid until the next call. */
uint32_t diagnose_strongest(struct diagnosis *d, const char **lines, uint32_t most);
