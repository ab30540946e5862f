/* What probes have measured so far. It is read without stopping anything, also for threads and
 * processes that have ended, until engine_drop(). */
#pragma once
#include "process/threads.h"
#include "runtime/abi.h"
#include "unwind/codes.h"
#include "unwind/walk.h"

struct target;

enum { SUBJECT_NONE = UINT32_MAX };

/* One call path with its current values: `total` and `self` include activations in progress. */
struct path_value {
	uint32_t subject;
	int tid;
	bool recursive;
	bool complete;          /* the path reaches the root */
	const uint64_t *frames; /* return addresses of the subject's callers, innermost first */
	uint32_t frame_count;
	uint64_t calls, running; /* begun since the probe went in; in progress now */
	uint64_t total[RT_METRICS], self[RT_METRICS]; /* ns, bytes, counts */
};
typedef void (*path_visitor)(void *ctx, const struct path_value *v);
/* Visits every path of every thread. */
void target_read(struct target *t, path_visitor visit, void *ctx);

/* Waits of one thread at one place for one object. Every wait is reported with SUBJECT_NONE, and
 * again for each subject with RT_WALL that was active, with the time since the wait or the
 * activation began. A system call inside a function that spins is part of that wait. */
struct wait_value {
	int tid; /* 0: of ended threads that are not kept separately, because there were too many */
	uint32_t subject;
	uint32_t call; /* number of the system call; UINT32_MAX: it spins */
	uint64_t pc;   /* of the system call instruction, or of the function that spins */
	/* The address of the futex; the descriptor; the process that is waited for; or the first
	 * argument of a function that spins. UINT64_MAX: none, or unknown. */
	uint64_t object;
	uint64_t count; /* waits that have ended */
	uint64_t wall_ns, bytes;
	/* The part of these waits that moved less than RT_SMALL bytes, or flushed less. */
	uint64_t small_count, small_ns;
	uint64_t since_ns; /* duration of the wait in progress, included in wall_ns; 0: none */
};
typedef void (*wait_visitor)(void *ctx, const struct wait_value *v);
/* Visits the waits of all threads, but not those of removed subjects. The same key may be visited
 * several times: the values add up. Values never decrease, with one exception: a wait that longjmp
 * has left stays in progress until its thread waits again, and is forgotten then. */
void target_waits(struct target *t, wait_visitor visit, void *ctx);

/* The object that a thread waits for in a system call, as in struct wait_value. False if the call
 * does not block, or is a restarted one, whose arguments are unknown. */
bool call_object(const struct call_made *c, uint64_t *object);
/* Finds the system call that a thread was in when a sample found it in the kernel, after the code
 * at va with these registers. False if there is no call instruction before va. */
bool call_in_kernel(const struct code *code, uint64_t va, const struct registers *r,
		    struct call_made *out);
/* The frame whose function has the probes around the system call of a thread with this stack: the
 * innermost one, or the caller of pinned code. */
const struct frame *calling_frame(const struct walk *w);

/* Where a synchronisation object was last initialised (pthread_mutex_init and similar functions)
 * since waits are watched, by any thread, or by the parent before it forked this process: the
 * return address of that call. 0: unknown. */
uint64_t target_made(const struct target *t, uint64_t object);

/* Calls from `site` (run-time address of the call instruction) to `target`, including indirect
 * ones. A pair may be visited several times: each thread counts separately. */
typedef void (*call_visitor)(void *ctx, uint64_t site, uint64_t target, uint64_t count);

/* Visits every module of a target that has code, except the vdso, with the difference between its
 * run-time addresses and its own. Modules that cannot be analysed are left out. */
typedef void (*module_visitor)(void *ctx, struct target *t, struct code *code, uint64_t bias);
int target_modules(struct target *t, module_visitor visit, void *ctx, struct err *e);

/* The stack of a thread when its process was stopped. `call`: the system call that it is in, or
 * NULL. */
typedef void (*walk_visitor)(void *ctx, struct target *t, int tid, const struct walk *w,
			     const struct call_made *call);
