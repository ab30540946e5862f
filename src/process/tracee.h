/* One thread under ptrace, attached with PTRACE_SEIZE: it stops only when it is asked to, stops by
 * job control stay what they are, and the thread runs on if Sonde dies.
 *
 *	tracee_seize()                      or tracee_adopt() for threads that a seized one creates
 *	tracee_interrupt()                  asks for a stop
 *	tracee_next()                       reports what has happened to any traced thread
 *	tracee_registers(), ...             while the thread is stopped
 *	tracee_resume() or tracee_detach()
 *
 * A thread may end at any time, even while it is stopped (SIGKILL). Every function copes with that,
 * and tracee_next() reports the end later. All calls must be made by the same thread of Sonde,
 * because for the kernel the tracer is a thread. */
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
	TRACEE_CLONED,    /* stopped in creating the thread or process `other` */
	TRACEE_CALLING,   /* stopped at the entry or exit of a system call */
	TRACEE_EXECUTED,  /* stopped at the start of a new program; it was thread `other` before */
	TRACEE_ENDING,    /* stopped before it ends, with its registers unchanged */
	TRACEE_ENDED,     /* ended and reaped; `status` as waitpid() returns it */
};

struct tracee_event {
	int tid;
	enum tracee_happening what;
	int signal; /* TRACEE_SIGNALLED */
	int other;
	bool vfork; /* TRACEE_CLONED: the thread waits until `other` executes a program or ends */
	int status;
	uint64_t cpu_ns; /* TRACEE_ENDED: CPU time of its process if that has ended; otherwise 0 */
};

enum tracee_extent {
	TRACEE_ALONE,     /* this thread only */
	TRACEE_PROCESSES, /* and new processes */
	TRACEE_CHILDREN,  /* and new threads */
	TRACEE_ENDS,      /* and all of them stop before they end (TRACEE_ENDING) */
};
int tracee_seize(struct tracee *t, int tid, enum tracee_extent extent, struct err *e);
/* For a new thread, which is traced because its creator is. */
void tracee_adopt(struct tracee *t, int tid);

bool tracee_interrupt(struct tracee *t);
/* Reports the next event of any thread, without waiting; false if there is none. A stop is reported
 * again and again until the thread is resumed or detached. */
bool tracee_next(struct tracee_event *out);
/* The same for one thread. */
bool tracee_look(int tid, struct tracee_event *out);
/* Waits for the next stop of a thread that is about to stop. Returns false if the thread has ended,
 * which tracee_next() reports. */
bool tracee_wait(int tid, struct tracee_event *out);
/* From now on the stop is not reported any more: for a thread that is to stay stopped. If Sonde
 * dies, a signal that the thread stopped with is lost. */
void tracee_take(int tid);

/* Needs a stopped thread. *in_call says whether it is leaving a system call. */
bool tracee_registers(struct tracee *t, struct registers *out, bool *in_call);
/* Reads the same registers into t->regset, as the kernel gives them. */
bool tracee_read(struct tracee *t);
/* Whether it was stopped in a call with a timeout, which will continue: see interrupted.h. */
bool tracee_sleeps(struct tracee *t);
/* Resumes the thread from the stop, with the signal that it was about to receive, and with the call
 * that it was stopped in. */
void tracee_resume(struct tracee *t, const struct tracee_event *stop);
/* The same, and detaches the thread. Returns false if the thread has to make its call again before
 * that: another stop of it will be reported. */
bool tracee_detach(struct tracee *t, const struct tracee_event *stop);
