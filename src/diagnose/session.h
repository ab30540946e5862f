/* `sonde diagnose` without its words: a program is started or attached to, sampled, and searched
 * for what makes it slow.
 *
 *	diagnose_start()
 *	diagnose_turn()     again and again, until it says that it is over
 *	diagnose_leave()    everything out, the program left alone
 *	diagnose_finish()   findings made, the profile saved
 *	diagnose_free()
 */
#pragma once
#include "profile/profile.h"
#include "search/search.h"

struct diagnose_options {
	char *const *argv; /* a program to start, or NULL */
	int pid;           /* else a process that runs */
	const char *output;
	bool loops; /* are parts of the search */
	struct search_options search;
	/* Something that the user should know: one sentence. */
	void (*tell)(void *ctx, const char *sentence);
	void *ctx;
};

struct diagnosis {
	const struct diagnose_options *o;
	struct profile profile;
	double seconds;    /* since the program was started or attached to */
	int program;       /* the started program while it runs on, else 0 */
	int status;        /* once it has ended, as of waitpid() */
	const char *ended; /* why it is over: "exit", "signal", "interrupted", "exhausted" */
	double cost;       /* share of the program's time that probes take at present */
	uint32_t active, found, refuted; /* experiments: not decided, true, false */
	bool settled;      /* nothing is left to be tested, as the program behaves now */
	char note[700];    /* why perf is not used, or what it cannot do */
	char problem[700]; /* why not all could be saved, or empty */
	struct diagnose_private *own;
};

/* *not_started is the errno of exec, if that was what failed. On an error the program has not run,
 * or runs on as before. */
int diagnose_start(struct diagnosis **out, const struct diagnose_options *o, int *not_started,
		   struct err *e);
/* For at most timeout_ms; false once it is over. */
bool diagnose_turn(struct diagnosis *d, int timeout_ms);
void diagnose_leave(struct diagnosis *d);
void diagnose_finish(struct diagnosis *d);
void diagnose_free(struct diagnosis *d);

/* The strongest of what was found so far: a line each, at most `most`; for as long as the diagnosis
 * is not asked again. */
uint32_t diagnose_strongest(struct diagnosis *d, const char **lines, uint32_t most);
