/* What control*.c and remote.c share. */
#pragma once
#include "base/vec.h"
#include "process/control.h"
#include "process/tid_index.h"

struct control_process {
	int pid;
	uint32_t memory; /* processes with the same number share their memory */
	bool stopped;
	bool leaving;        /* its threads are detached when they stop */
	bool complete;       /* all its threads are known and traced, and so will be new ones */
	uint64_t stop_began; /* ns: when it was asked to stop; 0: it runs */
	int parent;          /* pid */
	bool shared;         /* it was created to run in the memory of its parent (vfork) */
};

struct control {
	VEC(struct control_thread *) threads;
	struct tid_index by_tid; /* places in `threads` */
	VEC(struct control_process) processes;
	VEC(struct control_event) events;
	uint32_t reported;         /* how many of the events control_next() has returned */
	uint32_t memories;         /* the last number that a memory was given */
	enum tracee_extent extent; /* for control_attach() */
	uint64_t stopped_ns;       /* see control_stopped_ns() */
	uint32_t turn;             /* number of the present or last control_drain() */
	bool expecting;            /* control_expect_end() was called */
	bool more;    /* control_drain() has left events for which no SIGCHLD may follow */
	bool left;    /* control_leave_all() was called */
	int child_fd; /* signalfd for SIGCHLD */
	signal_watcher watcher;
	fork_watcher fork_watcher;
	end_watcher end_watcher;
	void *watcher_ctx;
	unsigned blocking; /* calls of control_block_signals() that are not undone yet */
	sigset_t mask;     /* our signal mask before the first of them */
	/* What control_new() has changed: our signal mask, and the action of SIGCHLD. */
	sigset_t mask_before;
	struct sigaction child_before;
};

enum { REPORT_NOTHING = -1 };

/* How long we wait for threads to stop that are to be detached. */
enum { LEAVE_NS = 1000000000 };

/* Size in bytes of the largest regset with wide registers. */
enum { WIDE_MAX = 9216 };

struct control_process *control_find_process(struct control *c, int pid);
struct control_thread *control_add(struct control *c, int pid, int tid);
void control_remove(struct control *c, struct control_thread *t);
/* Seizes a thread, and adds it and its process. */
int control_seize_thread(struct control *c, int pid, int tid, enum tracee_extent extent,
			 struct err *e);
/* Seizes the threads of a process that are not traced yet, in one pass. Returns how many those
 * were. With the extent of control_attach(), fails if a live thread cannot be seized. */
int control_seize_threads(struct control *c, int pid, enum tracee_extent extent, struct err *e);
/* Whether the thread will be detached when it stops, alone or with its process. */
bool control_is_leaving(struct control *c, const struct control_thread *t);
/* Asks the thread to stop. */
void control_ask(struct control_thread *t);
/* Handles all events of threads that have happened so far. If a thread causes signals or clones all
 * the time, handles only one of these, and one event of each other thread, before it returns. */
void control_drain(struct control *c);
/* Resumes a stopped thread, or detaches it if it is leaving. */
void control_release(struct control *c, struct control_thread *t);
/* The processes with this memory run again. */
void control_note_running(struct control *c, uint32_t memory);
/* Sleeps until something happens to a thread, or until `then`, but not longer than SLEEP_MAX_NS.
 * With `let_in`, signals to Sonde that are blocked are let in during the sleep. Returns false if
 * such a signal ended the sleep. */
bool control_sleep_until(const struct control *c, uint64_t then, bool let_in);
/* Resumes the stopped threads that sleep in a call, in all processes with this memory. If other
 * threads are to be resumed, waits until the sleepers are asleep again. */
void control_release_sleepers(struct control *c, uint32_t memory);

/* Reads the registers as the kernel gives them, and sets a call back that our stop has ended. */
bool control_read(struct control_thread *t);
bool control_write(struct control_thread *t);
/* The same for a caller that will change registers. Notes the call that the thread is in if a
 * handler must end it with EINTR: the kernel does not do that if the pc is changed. */
bool control_settle(struct control_thread *t);
/* Whether the thread may be in a call that only the kernel can continue with the remaining time.
 * The registers must have been read. */
bool control_resumes(const struct control_thread *t);
/* Takes a thread from any stop to the ordinary one (TRACEE_TRAPPED, TRACEE_SUSPENDED), without
 * executing anything. */
bool control_trap(struct control_thread *t);
/* The same from the stop `ev` of another kind; its signal is delivered. */
bool control_pass(struct control_thread *t, const struct tracee_event *ev);
/* Whether it is a SIGTRAP that an instruction raised. */
bool control_is_trap(const siginfo_t *info);
/* One word of the registers that were read; the offset is one of NT_PRSTATUS. */
uint64_t control_word(const struct control_thread *t, unsigned offset);
void control_put(struct control_thread *t, unsigned offset, uint64_t value);
