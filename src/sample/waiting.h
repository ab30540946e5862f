/* Samples threads that wait, without stopping them: a ptrace stop would make epoll_wait() and
 * similar calls fail with EINTR, which the program would not have seen without us.
 *
 * /proc shows where a waiting thread has left user code. How long it waited follows from its run
 * time. Between two samples of a thread, all time in which it neither ran nor was ready to run is
 * attributed to the place where it is found waiting. So the sum is exact, however rarely we look. A
 * thread that waits long is looked at more and more rarely. */
#pragma once
#include "sample/sampler.h"

struct waiting {
	int pid, tid;
	int fd, place_fd;       /* its schedstat and syscall in /proc, or -1 */
	bool opened;            /* these were opened, or could not be */
	uint64_t since;         /* ns: waiting before this time has been reported */
	uint64_t busy;          /* ns that it ran or was ready to run, up to `since` */
	uint64_t seen;          /* ns: first seen at its place */
	uint64_t next;          /* ns: not to be looked at before this time */
	uint64_t turns;         /* times that it got a CPU, when its place was read */
	struct registers place; /* pc and stack pointer; pc 0 if not known to wait */
	struct call_made call;  /* the system call that it waits in */
};

/* `now` is CLOCK_MONOTONIC in ns throughout. */
void waiting_init(struct waiting *w, int pid, int tid, uint64_t now);
/* For a thread that was started at the time `born`. */
void waiting_init_newborn(struct waiting *w, int pid, int tid, uint64_t born);
/* The struct may be all zero. */
void waiting_release(struct waiting *w);
/* Whether it is time to look at the thread again. */
bool waiting_is_due(const struct waiting *w, uint64_t now);
/* If the thread waits now, fills in *out except for `event`, and returns true. The stack is copied
 * to `stack`, which has room for `max_stack` bytes. Also returns false if it is too early to look
 * again. `threads` is how many are looked at in turn. */
bool waiting_look(struct waiting *w, uint64_t now, uint32_t threads, uint8_t *stack,
		  size_t max_stack, struct sample *out);

enum held {
	HELD,     /* all that `inside` has read is of one moment */
	HELD_NOT, /* the thread does not wait, or may not be looked at; `inside` was not called */
	HELD_BROKEN, /* the thread has run since: what `inside` has read is inconsistent */
};
/* Calls `inside` while the thread waits. Only the pc and the stack pointer are known in `regs`. */
enum held waiting_hold(int pid, int tid, void (*inside)(void *ctx, const struct registers *regs),
		       void *ctx);
