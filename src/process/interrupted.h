/* System calls that a stop of ours ended with EINTR, and taking that back.
 *
 * Stopping a thread that waits in the kernel wakes it up. Most calls then go on by themselves when
 * it continues, but some (epoll_wait, semtimedop, sigtimedwait, io_getevents, receiving with a
 * timeout, ...) return EINTR, which the program would never have seen without us; so does a signal
 * that it ignores, which only a traced thread is woken up for. Before such a thread continues, its
 * call is set back to be made again. A timeout in such a call begins anew then: it ends late rather
 * than early. If we are killed between the stop and the repair the program does see EINTR, as it
 * does after SIGSTOP and SIGCONT. */
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

/* What has to be remembered of one thread; all-zero at first. */
struct interrupted {
	bool entered;       /* that call is being made, on the way to being left alone */
	uint64_t restarted; /* pc of the call instruction that was set back last, or 0 */
	/* Where the program is to find an EINTR of its own when its signal handler returns. */
	struct {
		uint64_t pc, sp;
		uint64_t first;  /* argument of the call */
		uint64_t others; /* hash of the registers that the kernel leaves alone */
		bool slept;      /* the thread has, since then */
	} genuine[GENUINE_MAX];
	unsigned genuine_count;
	uint64_t switches; /* thread_switches() at the last stop, while there are such places */
	bool sleeping;     /* it was led into such a call, to be left alone when that is over */
	uint64_t timed;    /* number of the call that restart_syscall() stands for; 0: not known */
};

/* Whether the stopped thread is just leaving a system call. */
bool interrupted_in_call(int tid, const struct stop_registers *r);
/* To be called before a thread continues from a stop: `signal` is what it is about to receive, or
 * 0. Changes the thread's registers and *r if its call has to be made again. Returns false if the
 * thread is gone. */
bool interrupted_repair(struct interrupted *c, int tid, struct stop_registers *r, int signal);

/* To be called at the stops before (`entered` is false) and after a call that was set back, of a
 * thread that is to be left alone: has the kernel itself make the call again, or end it with EINTR
 * if a handler is to run first. */
void interrupted_hand_over(struct interrupted *c, int tid, struct stop_registers *r);

/* A call for some time that was stopped goes on as another one: restart_syscall(). A filter of the
 * program (seccomp) may not know that, and kill for it. Then the first one is made again, for all
 * of its time. */
/* Whether it is in such a call. */
bool interrupted_sleeps(int tid, const struct stop_registers *r);
/* To be called when the thread is to go on, with or without a filter. True if that is needed, and
 * has to be done at the entry of the call: the kernel has decided already. */
bool interrupted_avoid_restart(struct interrupted *c, int tid, struct stop_registers *r);
/* At that entry. */
void interrupted_rename(const struct interrupted *c, int tid, struct stop_registers *r);
