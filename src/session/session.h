/* One observation of a program: it is started or attached to, observed to its end or for a while,
 * left alone, and its profile saved. This is what record, path, count and diagnose have in common;
 * each has a struct session_ops for what differs.
 *
 *	session_start()    the program runs, and what is observed is saved regularly
 *	session_turn()     repeatedly, until it returns false
 *	session_leave()    the program is left alone
 *	session_finish()   the profile is complete, and saved
 */
#pragma once
#include "base/err.h"
#include "session/keeper.h"
#include "session/saver.h"

struct session_options {
	char *const *argv; /* a program to start, or NULL */
	const int *pids;   /* else running processes */
	unsigned pid_count;
	/* How many of them, the last ones, are members of groups: the user has named only these.
	 * Those that cannot be observed, or have ended, are left out. */
	unsigned members;
	const char *groups; /* what the groups are called, for people; NULL: there are none */
	bool alone;         /* without their descendants */
	const char *output;
	double seconds; /* 0: until all observed processes have ended */
	/* Shows the user a message of one sentence. */
	void (*message)(void *ctx, const char *sentence);
	void *ctx;
};

struct probing;
struct session;

/* Operations that may be NULL say so. */
struct session_ops {
	/* Starts the program, which does not run yet, or attaches. *not_started is the errno of
	 * exec, if that was what failed. */
	int (*open)(struct session *s, int *not_started, struct err *e);
	/* Adds facts about the run to the profile. */
	void (*add_facts)(struct session *s);
	/* Called when the profile's file is open. If it fails, the previous file is put back. May
	 * be NULL. */
	int (*begin)(struct session *s, struct err *e);
	/* Lets the program run. */
	int (*go)(struct session *s, int *not_started, struct err *e);
	/* Waits for at most timeout_ms, calls session_passed(), and then handles what has happened.
	 * An error ends the session. */
	int (*wait)(struct session *s, int timeout_ms, struct err *e);
	/* Whether nothing is left to observe. */
	bool (*is_over)(struct session *s);
	/* After each wait. May be NULL. */
	void (*work)(struct session *s);
	/* Ends observation; the program is left alone. */
	void (*leave)(struct session *s);
	/* Adds what takes longer to the profile: source structure, findings. Unless there is
	 * rescue(), what was observed is saved already. */
	void (*complete)(struct session *s);
	/* Called if the session fails to start: lets the program go, which was killed if Sonde
	 * started it. May be NULL. */
	void (*abandon)(struct session *s);
	/* For sessions that save nothing before the end: saves what there is, called in a child
	 * that has outlived Sonde (keeper.h). NULL: everything is saved each second. */
	void (*rescue)(struct session *s);
};

struct session {
	const struct session_options *o;
	struct profile *profile;
	double started;    /* s, CLOCK_MONOTONIC: when the program was let go; 0: not yet */
	double seconds;    /* since then */
	int program;       /* pid of the started program while it runs, else 0 */
	int status;        /* its wait status, once it has ended */
	const char *ended; /* why it is over: "exit", "signal", "interrupted", "duration", ... */
	char problem[700]; /* why it ended early, or not all could be saved; or empty */

	void *own; /* the pointer given to session_init() */
	struct probing
		*probing; /* of a session with probes in the program (probing.h), else NULL */

	/* The rest is private. */
	const struct session_ops *ops;
	struct saver saver;
	struct keeper keeper;
};

void session_init(struct session *s, const struct session_options *o, const struct session_ops *ops,
		  void *own, struct profile *p);
/* On an error, a program to be started has not run, a running one runs on as before, and the
 * previous profile is in its place. */
int session_start(struct session *s, int *not_started, struct err *e);
/* Observes for at most timeout_ms; false once the session is over. */
bool session_turn(struct session *s, int timeout_ms);
void session_leave(struct session *s);
void session_finish(struct session *s);

/* For the implementations of session_ops. */
void session_message(const struct session *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The started program has ended with this wait status. */
void session_program_ended(struct session *s, int status);
/* Sets the duration of the run to now: the time that Sonde spends on processing afterwards is not
 * part of it. */
void session_passed(struct session *s);
/* Saves if it is time to. session_turn() does that; this is for operations that take long. */
void session_tick(struct session *s);
/* ns: when the profile will be saved next. */
uint64_t session_next_save(const struct session *s);
