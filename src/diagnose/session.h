/* `sonde diagnose` without its words: a program is started or attached to, sampled, and searched
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
	bool loops; /* are parts of the search */
	struct search_options search;
};

struct diagnosis {
	struct session session; /* it may also end as "exhausted" */
	struct probing probing;
	const struct diagnose_options *o;
	struct profile profile;
	double cost; /* share of the program's time that probes take at present */
	uint32_t active, found, refuted; /* experiments: not decided, true, false */
	bool settled;   /* nothing is left to be tested, as the program behaves now */
	char note[700]; /* why perf is not used, or what it cannot do */
	struct diagnose_private *own;
};

struct diagnosis *diagnose_new(const struct diagnose_options *o);
void diagnose_free(struct diagnosis *d);

/* The strongest of what was found so far: a line each, at most `most`; for as long as the diagnosis
 * is not asked again. */
uint32_t diagnose_strongest(struct diagnosis *d, const char **lines, uint32_t most);
