/* System calls that a stop of ours has ended with EINTR, and how that is undone.
 *
 * Stopping a thread that waits in the kernel wakes it up. Most calls continue by themselves when
 * the thread is resumed. Some return EINTR instead (epoll_wait, semtimedop, sigtimedwait,
 * io_getevents, receiving with a timeout, ...), which the program would not have seen without us. A
 * signal that the program ignores has the same effect, because it wakes up traced threads only.
 *
 * Before such a thread is resumed, its call is set back so that it is made again. A timeout of the
 * call then starts again: it ends late rather than early. If Sonde is killed between the stop and
 * the repair, the program does see EINTR, as it does after SIGSTOP and SIGCONT. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STOP_REGISTERS_MAX = 512, GENUINE_MAX = 4 };

/* The general registers of a stopped thread as ptrace gives them (NT_PRSTATUS). */
struct stop_registers {
	size_t size; /* 0: not read */
	_Alignas(8) uint8_t bytes[STOP_REGISTERS_MAX];
};

/* What has to be remembered of one thread between its stops; all-zero at first. */
struct interrupted {
	/* The call that it waited in when it was told to stop, if any, and thread_switches() then.
	 */
	struct {
		uint64_t number, pc, sp, first, switches;
	} waited;
	/* The call that was set back last. */
	struct {
		uint64_t pc, first, others;
	} set_back;
	bool entered;       /* the thread is between the two stops of interrupted_hand_over() */
	uint64_t restarted; /* pc of the call instruction that was set back last, or 0 */
	/* Places where the program must see an EINTR of its own when its signal handler returns. */
	struct {
		uint64_t pc, sp;
		uint64_t first;  /* the first argument of the call */
		uint64_t others; /* hash of the registers that the kernel does not change */
		bool slept;      /* the thread has slept since then */
	} genuine[GENUINE_MAX];
	unsigned genuine_count;
	uint64_t switches; /* thread_switches() at the last stop, while genuine_count is not 0 */
	bool sleeping;     /* it enters a call with a timeout, and is detached when that is over */
	uint64_t timed;    /* number of the call that restart_syscall() continues; 0: unknown */
};

/* To be called right before a running thread is told to stop. */
void interrupted_note(struct interrupted *c, int tid);
/* Whether the stopped thread is leaving a system call. */
bool interrupted_in_call(int tid, const struct stop_registers *r);
/* To be called before a thread is resumed from a stop. `signal` is the one that it is about to
 * receive, or 0. Changes the registers of the thread, and *r, if its call has to be made again.
 * Returns false if the thread has ended. */
bool interrupted_repair(struct interrupted *c, int tid, struct stop_registers *r, int signal);

/* To be called for a thread that is to be detached, at the stops before (`entered` is false) and
 * after a call that was set back. Makes the kernel itself repeat the call, or end it with EINTR if
 * a handler runs first. */
void interrupted_hand_over(struct interrupted *c, int tid, struct stop_registers *r);

/* The kernel continues an interrupted call with a timeout as another one: restart_syscall(). A
 * filter of the program (seccomp) may not permit that one, and may kill the program for it. In this
 * case the original call is made again, with its full time. */

/* Whether the stopped thread is in such a call. */
bool interrupted_sleeps(int tid, const struct stop_registers *r);
/* To be called before the thread is resumed, whether it has a filter or not. Returns true if the
 * call has to be replaced at its entry, because the kernel has already decided to continue it. */
bool interrupted_avoid_restart(struct interrupted *c, int tid, struct stop_registers *r);
/* To be called at that entry: replaces restart_syscall() by the original call. */
void interrupted_rename(const struct interrupted *c, int tid, struct stop_registers *r);
