/* Counting a program's executions exactly: every block, loop and call of the chosen images, by
 * calling context (docs/COUNTING.md), from its first instruction on, or from now on.
 *
 *	count_start()   launched or attached, everything in
 *	count_turn()    again and again, until it says that it is over
 *	count_finish()  everything out, the program left alone, the profile saved
 *	count_free()
 */
#pragma once
#include "profile/profile.h"

/* What takes long. */
enum count_work {
	COUNT_PREPARING, /* procedures, before the program runs */
	COUNT_READING,   /* call paths, once it has ended */
};

struct count_options {
	char *const *argv;  /* a program to start, or NULL */
	int pid;            /* else a process that runs */
	const char *images; /* "main", "all", or patterns of names separated by commas */
	const char *output;
	/* Something that the user should know: one sentence. */
	void (*tell)(void *ctx, const char *sentence);
	/* How much of the work is done; a program that was started does not run meanwhile. */
	void (*progress)(void *ctx, enum count_work what, uint32_t done, uint32_t total);
	void *ctx;
};

struct count_session {
	const struct count_options *o;
	struct profile profile;
	uint64_t instructions;
	double seconds, preparing; /* s: the run, and what came before it */
	int program;               /* the started program while it runs, else 0 */
	int status;                /* once it has ended, as of waitpid() */
	char problem[700];         /* why not all could be saved, or empty */
	char partial[100];         /* why not all of the run was counted, or empty */
	struct count_private *own;
};

/* *not_started is the errno of exec, if that was what failed. On an error the program has not run,
 * or runs on as before. */
int count_start(struct count_session **out, const struct count_options *o, int *not_started,
		struct err *e);
/* Looks what has happened, for at most timeout_ms; false once there is nothing more to count or a
 * signal asked for the end. */
bool count_turn(struct count_session *s, int timeout_ms);
void count_finish(struct count_session *s);
void count_free(struct count_session *s);
