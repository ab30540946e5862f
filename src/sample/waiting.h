/* Threads that wait, looked at without stopping them: a ptrace stop would make epoll_wait() and its
 * like fail with EINTR, which the program would not have seen without us.
 *
 * The kernel tells in /proc where a thread that waits has left user code. How long it waited comes
 * from its run time: between two samples of a thread, all the time in which it neither ran nor was
 * ready to run is given to the place where it is seen waiting, so that the sum is exact at any rate
 * of looking. A thread that waits long is looked at more and more rarely. */
#pragma once
#include "sample/sampler.h"

struct waiting {
	int pid, tid;
	int fd, place_fd;       /* its schedstat and syscall in /proc, or -1 */
	uint64_t since;         /* ns: waiting before this has been told */
	uint64_t busy;          /* ns that it ran or was ready to run, up to `since` */
	uint64_t seen;          /* ns: first seen at its place */
	uint64_t next;          /* ns: not looked at before */
	uint64_t turns;         /* times that it got a CPU, when its place was read */
	struct registers place; /* pc and stack pointer; pc 0 if not known to wait */
	struct call_made call;  /* that it is in there */
};

/* `now` is CLOCK_MONOTONIC in ns throughout. */
void waiting_init(struct waiting *w, int pid, int tid, uint64_t now);
/* Also of one that is all zero. */
void waiting_release(struct waiting *w);
/* If the thread waits now, fills in *out (all but `event`, which stays) with the stack in `stack`,
 * which has room for `max_stack` bytes, and returns true. False also if it is too early to look
 * again. */
bool waiting_look(struct waiting *w, uint64_t now, uint8_t *stack, size_t max_stack,
		  struct sample *out);

enum held {
	HELD,     /* all that `inside` has read is of one moment */
	HELD_NOT, /* the thread does not wait, or may not be looked at; `inside` was not called */
	HELD_BROKEN, /* it went on while `inside` ran, which has read a mixture */
};
/* Calls `inside` while the thread waits, with pc and stack pointer only. */
enum held waiting_hold(int pid, int tid, void (*inside)(void *ctx, const struct registers *regs),
		       void *ctx);
