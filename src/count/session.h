/* Counting a program's executions exactly: every block, loop and call of the chosen images, by
 * calling context (docs/COUNTING.md), from its first instruction on.
 *
 *	count_start()   launched, everything in
 *	count_turn()    again and again, until it says that it is over
 *	count_finish()  the profile is saved
 *	count_free()
 */
#pragma once
#include "profile/profile.h"

struct count_options {
	char *const *argv;  /* the program to start */
	const char *images; /* "main", "all", or patterns of names separated by commas */
	const char *output;
	/* Something that the user should know: one sentence. */
	void (*tell)(void *ctx, const char *sentence);
	void *ctx;
};

struct count_session {
	const struct count_options *o;
	struct profile profile;
	uint32_t procedures, refused; /* in all processes */
	uint64_t instructions;
	double seconds, preparing; /* s: the run, and what came before it */
	int program;               /* while it runs, else 0 */
	int status;                /* once it has ended, as of waitpid() */
	char problem[700];         /* why not all could be saved, or empty */
	struct count_private *own;
};

/* *not_started is the errno of exec, if that was what failed. On an error the program has not run.
 */
int count_start(struct count_session **out, const struct count_options *o, int *not_started,
		struct err *e);
/* Looks what has happened, for at most timeout_ms; false once there is nothing more to count. */
bool count_turn(struct count_session *s, int timeout_ms);
void count_finish(struct count_session *s);
void count_free(struct count_session *s);
