/* What the files of control share. */
#pragma once
#include "base/vec.h"
#include "process/control.h"
#include "process/tid_index.h"

struct control_process {
	int pid;
	uint32_t memory; /* processes with the same number share their memory */
	bool stopped;
	bool leaving;  /* whatever stops is detached */
	bool complete; /* all its threads are known */
	int parent;
	bool shared;
};

struct control {
	VEC(struct control_thread *) threads;
	struct tid_index by_tid; /* places in it */
	VEC(struct control_process) processes;
	VEC(struct control_event) events;
	uint32_t reported; /* of the events */
	uint32_t memories;
	uint32_t turn;  /* of dealing with what has happened */
	bool expecting; /* the end of a process that is not traced */
	bool more;      /* has happened since, without a sign */
	bool left;      /* control_leave_all() was called */
	int child_fd;   /* tells of SIGCHLD */
	signal_watcher watcher;
	fork_watcher fork_watcher;
	end_watcher end_watcher;
	void *watcher_ctx;
	unsigned blocking; /* calls of control_block_signals() without their counterpart */
	sigset_t mask;     /* of signals, before the first of them */
	sigset_t mask_before;
	struct sigaction child_before;
};

enum { REPORT_NOTHING = -1 };

/* How long we wait for threads that are to be left and do not stop. */
enum { LEAVE_NS = 1000000000 };

/* Bytes of the largest regset with wide registers. */
enum { WIDE_MAX = 9216 };

struct control_process *control_find_process(struct control *c, int pid);
struct control_thread *control_add(struct control *c, int pid, int tid);
void control_remove(struct control *c, struct control_thread *t);
/* Seizes a thread and adds it, and its process. */
int control_seize_thread(struct control *c, int pid, int tid, enum tracee_extent extent,
			 struct err *e);
/* One pass over the threads of a process; returns how many were new to us. With TRACEE_ENDS, an
 * error if one runs that cannot be ours. */
int control_seize_threads(struct control *c, int pid, enum tracee_extent extent, struct err *e);
/* Whether it is detached when it stops, by itself or with its process. */
bool control_is_leaving(struct control *c, const struct control_thread *t);
/* Asks it to stop. */
void control_ask(struct control_thread *t);
/* Deals with everything that has happened so far; or, if more happens meanwhile, with one thing of
 * each thread. */
void control_drain(struct control *c);
/* Lets a stopped thread go on, or detaches it if it is being left. */
void control_release(struct control *c, struct control_thread *t);
/* Sleeps until something happens to a thread, or until `then`. With `let_in`, signals of ours that
 * are blocked are let in meanwhile. False if such a signal ended the sleep. */
bool control_sleep_until(const struct control *c, uint64_t then, bool let_in);
/* Lets the stopped threads go on that sleep in a call, of all processes with this memory. If other
 * threads are to go on, waits until the sleepers are asleep again. */
void control_release_sleepers(struct control *c, uint32_t memory);

/* The registers as the kernel gives them are read, and calls that our stop has ended set back. */
bool control_read(struct control_thread *t);
bool control_write(struct control_thread *t);
/* The same before registers are changed, so that a handler still ends the call that the thread is
 * in. */
bool control_settle(struct control_thread *t);
/* Whether the kernel, and nobody else, can let the call that the thread may be in go on with the
 * time that is left. The registers have been read. */
bool control_resumes(const struct control_thread *t);
/* Has a thread that is in some stop go on into the ordinary one, without executing anything. */
bool control_trap(struct control_thread *t);
/* The same from another kind of stop that was told, with its signal delivered. */
bool control_pass(struct control_thread *t, const struct tracee_event *ev);
/* Whether an instruction raised it. */
bool control_is_trap(const siginfo_t *info);
uint64_t control_word(const struct control_thread *t, unsigned offset);
void control_put(struct control_thread *t, unsigned offset, uint64_t value);
