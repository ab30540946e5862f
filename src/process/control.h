/* All threads of the programs under study, under ptrace: stopping a process as a whole or one
 * thread, resuming it, and being told of new threads and processes, of programs executed and of
 * ends.
 *
 *	control_attach() or control_launch()
 *	control_wait()              what has happened; the thread concerned stays stopped for
 *	                            CONTROL_BORN, _FORKED, _EXECUTED, _SIGNALLED_US, _INTERRUPTED
 *	                            until control_go()
 *	control_stop() ... control_resume()     the whole process, and those sharing its memory
 *	control_detach()
 *
 * or, for a caller that looks at single threads and leaves the others running:
 *
 *	control_seize()
 *	control_sleep(), control_next()         the same as control_wait(), in two steps
 *	control_interrupt()                     CONTROL_INTERRUPTED is reported when the thread
 *stops control_go() or control_leave() control_leave_all()
 *
 * Signals that arrive while a process is stopped are delivered when it goes on; system calls that
 * stops interrupt are set back (interrupted.h). A thread that cannot stop now because it waits in
 * the kernel for its vfork child, or uninterruptibly, counts as stopped: it will stop before it
 * executes another instruction of the program, and control_resume() takes care of it.
 *
 * All calls have to come from one thread of ours. */
#pragma once
#include <signal.h>

#include "process/threads.h"
#include "process/tracee.h"

struct control;

struct control_thread {
	struct tracee tracee;
	int pid;
	bool stopped;   /* registers can be read and set */
	bool in_call;   /* stopped in a system call: known after control_registers() */
	bool in_kernel; /* not stopped, but will be before it runs on: see above */
	bool asked;     /* to stop, and has not done so yet */
	struct tracee_event stop;

	/* The rest is control's own. */
	bool held;     /* until control_go() */
	bool leaving;  /* it is detached when it stops */
	bool vforked;  /* waits for a child that uses its memory */
	bool dead;     /* but not gone: the first thread of a process that others go on with */
	int report;    /* enum control_happening to report when it stops; or -1 */
	uint32_t turn; /* in which it told what may come again at once */
	int resumed;   /* number of the call that the kernel's restart_call stands for; or -1 */
};

enum control_happening {
	CONTROL_BORN,     /* a new thread, before its first instruction; stopped */
	CONTROL_FORKED,   /* a new process, before its first instruction; stopped; `parent`. With
			     `shared` it runs in its parent's memory (vfork) */
	CONTROL_EXECUTED, /* the process executes a new program, at its start; stopped */
	CONTROL_SIGNALLED_US, /* the runtime asks for attention (rendezvous); stopped */
	CONTROL_ENDED,        /* the thread is gone; `status` if it was the last of its process */
	CONTROL_GONE,         /* the process is gone: after its last CONTROL_ENDED; `status` */
	CONTROL_INTERRUPTED,  /* control_interrupt() has stopped the thread */
};

struct control_event {
	enum control_happening what;
	int pid, tid;
	int parent; /* pid */
	bool shared;
	int status;      /* as of waitpid(); -1 if unknown */
	uint64_t cpu_ns; /* CONTROL_GONE: time on a CPU of all its threads */
	uint64_t value;  /* CONTROL_SIGNALLED_US: what the runtime sent */
};

struct control *control_new(void);
/* Detaches from whatever is left, unless control_leave_all() was called before. */
void control_free(struct control *c);

/* Seizes all threads of the process, until no new one appears. */
int control_attach(struct control *c, int pid, struct err *e);
/* The same for a caller that never stops a process as a whole. With `whole`, seizes all threads of
 * the thread's process that can be seized, and fails only if there are none; what they make will be
 * ours as well. Otherwise seizes this thread alone. No end_watcher is called for these threads. The
 * caller has checked that it may attach (process_check_attach()); a child that launch_prepare()
 * made needs no check. */
int control_seize(struct control *c, int tid, bool whole, struct err *e);
/* Starts a program; it is stopped at its first instruction (CONTROL_EXECUTED is reported). *why is
 * the errno of a failed exec. */
int control_launch(struct control *c, char *const *argv, int *pid, int *why, struct err *e);

/* The next thing that has happened; waits up to timeout_ms (0: does not wait; -1: for ever; a
 * signal of ours ends it early). False if nothing has. */
bool control_wait(struct control *c, int timeout_ms, struct control_event *out);
/* The two halves of control_wait(). control_sleep() waits until something has happened, or until
 * `then` (a time of now_ns()); it returns false if a signal of ours ended the wait. control_next()
 * gives the next event that is known, without looking for more. */
bool control_sleep(struct control *c, uint64_t then);
bool control_next(struct control *c, struct control_event *out);
/* From now on it waits even if nothing is traced: a process was left whose end is awaited. */
void control_expect_end(struct control *c);
/* How many things control_wait() knows already, and gives without looking for others. */
uint32_t control_known(const struct control *c);
/* Between these two calls, signals of ours are let in only while control_wait() or control_sleep()
 * waits, so that each signal ends a wait. Calls may be nested. */
void control_block_signals(struct control *c);
void control_unblock_signals(struct control *c);
/* Lets the thread that an event told of go on, unless its process is stopped. */
void control_go(struct control *c, int tid);

/* Asks one thread to stop, and does not wait for that. CONTROL_INTERRUPTED is reported when the
 * thread has stopped, which may be much later: see in_kernel. */
void control_interrupt(struct control *c, int tid);
/* Waits up to `ns` for a thread that control_interrupt() has asked. If it returns true, the thread
 * is stopped until control_go(), and no event is reported. Otherwise the event is reported later.
 */
bool control_await_stop(struct control *c, int tid, uint64_t ns);

/* Stops every thread of the process and of processes that share its memory. Nesting is not counted.
 * Fails only if the process is gone. Threads and processes that were made before are stopped and
 * known as well, but may not have been told yet: control_wait() does, without waiting. */
int control_stop(struct control *c, int pid, struct err *e);
/* Of a process that cannot fork now (it is stopped, has ended, or waits for control_go() after
 * CONTROL_EXECUTED): the next CONTROL_FORKED event of a child that it made before, out of turn.
 * Waits for those that have not told yet. False if there is no other. */
bool control_next_forked(struct control *c, int pid, struct control_event *out);
void control_resume(struct control *c, int pid);
/* A signal of its own that a thread is about to receive. */
struct control_signal {
	int pid; /* whose memory it runs in: of a vfork child that is its parent */
	int signal;
	bool trapped; /* SIGTRAP of an instruction, not sent by anybody */
	uint64_t pc;  /* may be changed: where it goes on, after its handler */
};
/* Asked about each; false: nobody gets the signal. */
typedef bool (*signal_watcher)(void *ctx, struct control_signal *s);
/* A thread of a process has forked a child with memory of its own, and has not run on yet. The
 * child may have told before, but is held until control_go() as ever. */
typedef void (*fork_watcher)(void *ctx, int pid, int tid, int child);
/* A thread is about to end, whyever; its registers can still be read. */
typedef void (*end_watcher)(void *ctx, struct control_thread *t);
void control_watch(struct control *c, signal_watcher signals, fork_watcher forks, end_watcher ends,
		   void *ctx);

/* Leaves the process, which must be stopped, and lets it run. */
void control_detach(struct control *c, int pid);
/* Leaves one thread that an event told of, and lets it run. False if the thread is not stopped: it
 * runs, or was killed, and its end will be reported. */
bool control_leave(struct control *c, int tid);
/* Leaves all threads; they need not be stopped. Returns at `then` (a time of now_ns()) at the
 * latest. The kernel detaches threads that could not be stopped until then when we end. */
void control_leave_all(struct control *c, uint64_t then);

/* How many threads are ours. */
uint32_t control_count(const struct control *c);
/* The threads of a process; pointers are good until the next control_wait() or _stop(). */
uint32_t control_threads(struct control *c, int pid, struct control_thread **out, uint32_t room);
/* The threads that run in the memory of a process: its own, and its vfork children's. */
uint32_t control_users(struct control *c, int pid, struct control_thread **out, uint32_t room);
struct control_thread *control_thread(struct control *c, int tid);
/* Registers of a stopped thread; false if it is gone. Only pc and general registers are set. A
 * thread in a system call that will be made again when it goes on is at the call instruction; one
 * whose call is over is behind it. */
bool control_registers(struct control_thread *t, struct registers *out);
/* Moves it to another place. One at a call instruction must get the place of such an instruction.
 */
bool control_set_pc(struct control_thread *t, uint64_t pc);
/* A general register. */
bool control_set_register(struct control_thread *t, unsigned reg, uint64_t value);
/* The lower 16 bytes of a vector register. */
bool control_vector(struct control_thread *t, unsigned reg, uint64_t value[2]);
bool control_set_vector(struct control_thread *t, unsigned reg, const uint64_t value[2]);
/* Where a thread that is in_kernel will go on; false if that cannot be known. */
bool control_kernel_place(const struct control_thread *t, uint64_t *sp, uint64_t *pc);
/* Whether a stopped thread has executed a trap, of which it has not been told yet. */
bool control_has_trapped(const struct control_thread *t);
/* Lets some threads of a stopped process run for about so many ns (less than a second), and stops
 * them again. They may have ended, be in_kernel, or have made others meanwhile: ask for the threads
 * again.
 */
void control_run_on(struct control *c, const int *tids, uint32_t count, uint64_t ns);
/* The thread pointer of a stopped thread. */
bool control_thread_pointer(struct control_thread *t, uint64_t *out);

/* The value that rt_tgsigqueueinfo() carries to tell our signal from others: the upper half. */
enum { CONTROL_SIGNAL = 23 /* SIGURG: ignored by default */ };
#define CONTROL_MAGIC UINT64_C(0x736f6e6400000000)
