/* One observation of a program: started or attached to, watched to its end or for a while, left
 * alone, and saved. What record, path, count and diagnose have in common; each has a struct
 * session_ops for what differs.
 *
 *	session_start()    the program runs, and what is observed is saved as it comes
 *	session_turn()     again and again, until it says that it is over
 *	session_leave()    the program is left alone
 *	session_finish()   the profile is complete, and saved
 */
#pragma once
#include "base/err.h"
#include "session/keeper.h"
#include "session/saver.h"

struct session_options {
	char *const *argv; /* a program to start, or NULL */
	int pid;           /* else a process that runs; 0: there are several */
	const char *output;
	double seconds; /* 0: to the end of what is observed */
	/* Something that the user should know: one sentence. */
	void (*tell)(void *ctx, const char *sentence);
	void *ctx;
};

struct session;

/* `own` is that of session_init(). What may be NULL says so. */
struct session_ops {
	/* Starts the program, which does not run yet, or attaches. *not_started is the errno of
	 * exec, if that was what failed. */
	int (*open)(void *own, int *not_started, struct err *e);
	/* What the profile is to say about the run. */
	void (*add_facts)(void *own);
	/* With the file of the profile open; a previous one comes back if this fails. May be NULL.
	 */
	int (*begin)(void *own, struct err *e);
	/* Lets the program go. */
	int (*go)(void *own, int *not_started, struct err *e);
	/* Waits for at most timeout_ms and deals with what has happened, after session_passed(): an
	 * error ends the session. */
	int (*wait)(void *own, int timeout_ms, struct err *e);
	/* Whether nothing is left to observe. */
	bool (*is_over)(void *own);
	/* After each wait. May be NULL. */
	void (*work)(void *own);
	/* The program is left alone. */
	void (*leave)(void *own);
	/* What was observed is saved; what else belongs to the profile takes longer: source
	 * structure, findings. */
	void (*complete)(void *own);
	/* It is given up before it has begun: the program, which has been killed if we started it,
	 * is let go. May be NULL. */
	void (*abandon)(void *own);
	/* Nothing is saved before the end: in a child of ours that has outlived us, saves what
	 * there is. May be NULL: all is saved every second. */
	void (*rescue)(void *own);
};

struct session {
	const struct session_options *o;
	struct profile *profile;
	double started;    /* s, CLOCK_MONOTONIC: when the program was let go; 0: it was not */
	double seconds;    /* since then */
	int program;       /* the started program while it runs on, else 0 */
	int status;        /* once it has ended, as of waitpid() */
	const char *ended; /* why it is over: "exit", "signal", "interrupted", "duration", ... */
	char problem[700]; /* why it ended early, or not all could be saved; or empty */

	/* The rest is its own. */
	const struct session_ops *ops;
	void *own;
	struct saver saver;
	struct keeper keeper;
};

void session_init(struct session *s, const struct session_options *o, const struct session_ops *ops,
		  void *own, struct profile *p);
/* On an error the program has not run, or runs on as before, and the previous profile is there. */
int session_start(struct session *s, int *not_started, struct err *e);
/* For at most timeout_ms; false once it is over. */
bool session_turn(struct session *s, int timeout_ms);
void session_leave(struct session *s);
void session_finish(struct session *s);

/* For the files that have a session. */
void session_tell(const struct session *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* It has ended. */
void session_program_ended(struct session *s, int status);
/* Time has passed until now: what is done with it then is no part of the run. */
void session_passed(struct session *s);
/* Saves if it is time to: for who has no turns for a while. */
void session_tick(struct session *s);
/* ns: when it will be saved the next time. */
uint64_t session_next_save(const struct session *s);
