/* One thread under ptrace, attached with PTRACE_SEIZE: nothing stops until it is asked to, stops by
 * job control stay what they are, and the thread runs on if we die.
 *
 *	tracee_seize(), and new threads of seized ones come by themselves
 *	tracee_interrupt()             asks for a stop
 *	tracee_next()                  what has happened to any thread of ours
 *	tracee_registers(), ...        while it is stopped
 *	tracee_resume() or tracee_detach()
 *
 * Threads end at any time, also while stopped (SIGKILL): every function copes with one that is
 * gone, which is told by tracee_next() in the end. All calls have to come from one thread of ours:
 * the kernel knows the tracer by its thread. */
#pragma once
#include "base/err.h"
#include "isa/registers.h"
#include "process/interrupted.h"

struct tracee {
	int tid;
	struct stop_registers regset; /* of the present stop */
	struct interrupted interrupted;
};

enum tracee_happening {
	TRACEE_TRAPPED,   /* stopped because we asked, or at its very start */
	TRACEE_SIGNALLED, /* stopped with a signal that it is about to receive */
	TRACEE_SUSPENDED, /* stopped with all of its process by SIGSTOP and the like */
	TRACEE_CLONED,    /* stopped in making a thread or a process, `other` */
	TRACEE_CALLING,   /* stopped at a system call, on its way to being detached */
	TRACEE_EXECUTED,  /* stopped in a new program; it was thread `other` before */
	TRACEE_ENDING,    /* stopped on its way out, with its registers as they were */
	TRACEE_ENDED,     /* gone and reaped; `status` as of waitpid() */
};

struct tracee_event {
	int tid;
	enum tracee_happening what;
	int signal; /* TRACEE_SIGNALLED */
	int other;
	bool vfork; /* TRACEE_CLONED: the maker waits for `other` to execute or end */
	int status;
	uint64_t cpu_ns; /* TRACEE_ENDED: of its process; 0 unless that has ended with it */
};

enum tracee_extent {
	TRACEE_ALONE,
	TRACEE_CHILDREN, /* new threads and processes are to be traced as well */
	TRACEE_ENDS,     /* and tell before they end */
};
int tracee_seize(struct tracee *t, int tid, enum tracee_extent extent, struct err *e);
/* For a thread that came by itself. */
void tracee_adopt(struct tracee *t, int tid);

bool tracee_interrupt(const struct tracee *t);
/* The next thing that has happened, without waiting; false if nothing has. A stop is told again
 * until the thread is resumed or detached. */
bool tracee_next(struct tracee_event *out);
/* The same for one thread. */
bool tracee_look(int tid, struct tracee_event *out);
/* Waits for the next stop of one thread that is on its way to it; false if it has ended, which
 * tracee_next() tells. */
bool tracee_wait(int tid, struct tracee_event *out);
/* From now on the stop is not told any more: for a thread that is to stay stopped. A signal that it
 * stopped with is lost if we die. */
void tracee_take(int tid);

/* Only while it is stopped. `in_call` tells whether it is leaving a system call. */
bool tracee_registers(struct tracee *t, struct registers *out, bool *in_call);
/* The same as the kernel gives them, in t->regset. */
bool tracee_read(struct tracee *t);
/* Whether it was stopped in a call for some time, and will go on with that: see interrupted.h. */
bool tracee_sleeps(struct tracee *t);
/* Lets it go on from the stop, with the signal that it was to receive, and with the call that it
 * was stopped in. */
void tracee_resume(struct tracee *t, const struct tracee_event *stop);
/* The same, and we have no more to do with it. False if it has to make its call again before it can
 * be left alone: another stop of it will be told. */
bool tracee_detach(struct tracee *t, const struct tracee_event *stop);
