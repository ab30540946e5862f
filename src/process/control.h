/* Controls all threads of the observed programs with ptrace: stops and resumes a whole process or a
 * single thread, and reports new threads and processes, executed programs, and ends.
 *
 *	control_attach() or control_launch()
 *	control_wait()                       reports the next event. After CONTROL_BORN, _FORKED,
 *	                                     _EXECUTED, _SIGNALLED_US and _INTERRUPTED the thread
 *	                                     stays stopped until control_go()
 *	control_stop() ... control_resume()  the process, and those that share its memory
 *	control_detach()
 *
 * A caller that looks at single threads and lets the others run uses:
 *
 *	control_seize()
 *	control_sleep(), control_next()      the two halves of control_wait()
 *	control_interrupt()                  CONTROL_INTERRUPTED is reported when the thread stops
 *	control_go() or control_leave()
 *	control_leave_all()
 *
 * Signals that arrive while a process is stopped are delivered when it is resumed. System calls
 * that a stop interrupts are made again (interrupted.h).
 *
 * A thread cannot stop now if it waits in the kernel uninterruptibly or for its vfork child. It
 * counts as stopped nevertheless (`in_kernel`), because it will stop before it executes another
 * instruction of the program. control_resume() takes care of it.
 *
 * All calls must be made by the same thread of Sonde. */
#pragma once
#include <signal.h>

#include "process/threads.h"
#include "process/tracee.h"

struct control;

struct control_thread {
	struct tracee tracee;
	int pid;
	bool stopped;   /* registers can be read and set */
	bool in_call;   /* it is stopped in a system call; control_registers() finds out */
	bool in_kernel; /* not stopped, but executes nothing before it stops: see above */
	bool asked;     /* we have asked it to stop, and it has not stopped yet */
	struct tracee_event stop;

	/* The rest is internal to control*.c and remote.c; only `held` may be read elsewhere. */
	bool held;     /* it stays stopped until control_go() */
	bool leaving;  /* it will be detached when it stops */
	bool vforked;  /* it waits for a vfork child, which uses its memory */
	bool dead;     /* it has ended, but is not reaped: a first thread while others run */
	int report;    /* the enum control_happening to report when it stops, or -1 */
	uint32_t turn; /* the last control_drain() that handled a signal or clone of it */
	int resumed;   /* number of the call that restart_syscall() continues, or -1 */
};

enum control_happening {
	CONTROL_BORN,     /* a new thread, before its first instruction; stopped */
	CONTROL_FORKED,   /* a new process of `parent`, before its first instruction; stopped. With
			     `shared` it runs in its parent's memory (vfork) */
	CONTROL_EXECUTED, /* the process executes a new program, at its start; stopped */
	CONTROL_SIGNALLED_US, /* the runtime asks for attention (rendezvous); stopped */
	CONTROL_ENDED,        /* the thread has ended; `status` if it was the last of its process */
	CONTROL_GONE,         /* the process has ended: follows its last CONTROL_ENDED; `status` */
	CONTROL_INTERRUPTED,  /* control_interrupt() has stopped the thread */
};

struct control_event {
	enum control_happening what;
	int pid, tid;
	int parent;      /* CONTROL_FORKED: pid */
	bool shared;     /* CONTROL_FORKED */
	int status;      /* as waitpid() returns it; -1 if unknown */
	uint64_t cpu_ns; /* CONTROL_GONE: CPU time of all its threads */
	uint64_t value;  /* CONTROL_SIGNALLED_US: what the runtime sent */
};

struct control *control_new(void);
/* From now on, control_attach() traces neither the births of threads nor their ends: a thread does
 * not stop for us when it creates another one, nor before it ends. control_stop() seizes threads
 * that are new; CONTROL_BORN is not reported, and the end_watcher is not called. */
void control_ignore_births(struct control *c);
/* Detaches from all threads that are still traced, unless control_leave_all() was called before. */
void control_free(struct control *c);

/* Seizes all threads of the process, including those that are created during the call. */
int control_attach(struct control *c, int pid, struct err *e);
/* The same for a caller that never stops a whole process. With `whole`, seizes all threads of the
 * process of `tid` that can be seized, and fails only if there are none. Threads and processes that
 * they create will be traced as well. Without it, seizes thread `tid` alone. The end_watcher is not
 * called for any of these threads. The caller must have checked that it may attach
 * (process_check_attach()), except to a child of launch_prepare(). */
int control_seize(struct control *c, int tid, bool whole, struct err *e);
/* Starts a program and stops it at its first instruction (CONTROL_EXECUTED is reported). *why is
 * the errno of exec if that fails, and 0 otherwise. */
int control_launch(struct control *c, char *const *argv, int *pid, int *why, struct err *e);

/* Waits up to timeout_ms for the next event (0: does not wait; -1: for ever). A signal to Sonde
 * ends the wait early. Returns false if there is no event. */
bool control_wait(struct control *c, int timeout_ms, struct control_event *out);
/* The two halves of control_wait(). control_sleep() waits until there is an event, or until `then`
 * (a time of now_ns()). It returns false if a signal to Sonde ended the wait. control_next()
 * returns the next known event, and does not look for more. */
bool control_sleep(struct control *c, uint64_t then);
bool control_next(struct control *c, struct control_event *out);
/* Without this call, waits end at once if nothing is traced. For a caller that has detached from a
 * child process, or has never traced it, and waits for its CONTROL_GONE. */
void control_expect_end(struct control *c);
/* How many events control_next() can return. */
uint32_t control_known(const struct control *c);
/* Between these two calls, signals to Sonde are let in only while control_wait() or control_sleep()
 * waits, so that each signal ends a wait. The calls may be nested. */
void control_block_signals(struct control *c);
void control_unblock_signals(struct control *c);
/* Resumes the thread of an event, unless its process is stopped. */
void control_go(struct control *c, int tid);

/* Asks one thread to stop, and returns without waiting for it. CONTROL_INTERRUPTED is reported when
 * the thread has stopped, which may be much later: see in_kernel. */
void control_interrupt(struct control *c, int tid);
/* Waits up to `ns` until a thread stops that control_interrupt() has asked. If it returns true, the
 * thread is stopped until control_go(), and no event is reported. Otherwise the event, or the end
 * of the thread, is reported later. */
bool control_await_stop(struct control *c, int tid, uint64_t ns);

/* How long processes have been stopped by control_stop() so far, all together: from when their
 * threads were asked to stop until they were resumed or detached. */
uint64_t control_stopped_ns(const struct control *c);
/* Stops every thread of the process and of processes that share its memory. One control_resume()
 * resumes them, no matter how often they were stopped. Fails if the process has ended, or if one of
 * its threads cannot be seized; in the latter case it runs on. Threads and processes that were
 * created before the stop are stopped and known as well. Events of them that were not reported yet
 * are pending: control_wait() returns them without waiting. */
int control_stop(struct control *c, int pid, struct err *e);
/* For a process that cannot fork now: it is stopped, has ended, or waits for control_go() after
 * CONTROL_EXECUTED. Returns the next CONTROL_FORKED event of a child that it created before, ahead
 * of other events. Waits for children whose event is not known yet. False if there are no more. */
bool control_next_forked(struct control *c, int pid, struct control_event *out);
void control_resume(struct control *c, int pid);
/* A signal, other than ours, that a thread is about to receive. */
struct control_signal {
	int pid; /* owner of its memory: for a vfork child, the parent */
	int signal;
	bool trapped; /* SIGTRAP raised by an instruction, not sent by a process */
	uint64_t pc;  /* where the thread continues, after its handler; may be changed */
};
/* Called for each such signal. Returns false to discard the signal. */
typedef bool (*signal_watcher)(void *ctx, struct control_signal *s);
/* Called when a thread has forked a child with memory of its own, before the thread continues.
 * CONTROL_FORKED of the child may have been reported before, but the child is held until
 * control_go() in any case. */
typedef void (*fork_watcher)(void *ctx, int pid, int tid, int child);
/* Called when a thread is about to end, for whatever reason. Its registers can still be read. */
typedef void (*end_watcher)(void *ctx, struct control_thread *t);
void control_watch(struct control *c, signal_watcher signals, fork_watcher forks, end_watcher ends,
		   void *ctx);

/* Detaches from the process, which must be stopped, and lets it run. */
void control_detach(struct control *c, int pid);
/* Detaches from the thread of an event, and lets it run. Returns false if the thread is not
 * stopped: it runs, or was killed, and its end will be reported. */
bool control_leave(struct control *c, int tid);
/* Detaches from all threads; they need not be stopped. Returns at `then` (a time of now_ns()) at
 * the latest. The kernel detaches threads that have not stopped by then when Sonde ends. */
void control_leave_all(struct control *c, uint64_t then);

/* How many threads are traced. */
uint32_t control_count(const struct control *c);
/* The threads of a process, at most `room`; returns how many there are. The pointers are valid
 * until the next control_wait() or control_stop(). */
uint32_t control_threads(struct control *c, int pid, struct control_thread **out, uint32_t room);
/* The same for the threads that run in the memory of a process: its own, and those of its vfork
 * children. */
uint32_t control_users(struct control *c, int pid, struct control_thread **out, uint32_t room);
struct control_thread *control_thread(struct control *c, int tid);
/* Reads the pc and the general registers of a stopped thread; the others are not set. False if the
 * thread has ended. If the thread is in a system call that will be made again, its pc is that of
 * the call instruction. If its call is complete, its pc is after that instruction. */
bool control_registers(struct control_thread *t, struct registers *out);
/* Moves a stopped thread to another place. A thread at a call instruction must be moved to a call
 * instruction. */
bool control_set_pc(struct control_thread *t, uint64_t pc);
/* Sets a general register. */
bool control_set_register(struct control_thread *t, unsigned reg, uint64_t value);
/* The lower 16 bytes of a vector register. */
bool control_vector(struct control_thread *t, unsigned reg, uint64_t value[2]);
bool control_set_vector(struct control_thread *t, unsigned reg, const uint64_t value[2]);
/* Where a thread that is in_kernel will continue; false if that is unknown. */
bool control_kernel_place(const struct control_thread *t, uint64_t *sp, uint64_t *pc);
/* Whether a stopped thread has executed a trap instruction, and its SIGTRAP is still pending. */
bool control_has_trapped(const struct control_thread *t);
/* Lets some threads of a stopped process run for about `ns` (less than a second), and stops them
 * again. Afterwards they may have ended, be in_kernel, or have created others, so that the caller
 * has to ask for the list of threads again. */
void control_run_on(struct control *c, const int *tids, uint32_t count, uint64_t ns);
/* The thread pointer of a stopped thread. */
bool control_thread_pointer(struct control_thread *t, uint64_t *out);

/* The runtime sends us this signal with rt_tgsigqueueinfo(). The upper half of the value that it
 * carries distinguishes it from other signals: it is that of CONTROL_MAGIC. */
enum { CONTROL_SIGNAL = 23 /* SIGURG: ignored by default */ };
#define CONTROL_MAGIC UINT64_C(0x736f6e6400000000)
