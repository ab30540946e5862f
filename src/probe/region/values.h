/* What probes have measured so far: read without stopping anything, also of threads that have
 * ended, and of processes that have, until engine_drop(). */
#pragma once
#include "process/threads.h"
#include "runtime/abi.h"
#include "unwind/codes.h"
#include "unwind/walk.h"

struct target;

enum { SUBJECT_NONE = UINT32_MAX };

/* One call path with its values, as of now: activations in progress are in `total`. */
struct path_value {
	uint32_t subject;
	int tid;
	bool recursive;
	bool complete; /* the path reaches the root */
	const uint64_t
		*frames; /* return addresses, innermost first; of the callers of the subject */
	uint32_t frame_count;
	uint64_t calls, running; /* begun since the probe is in; in progress now */
	uint64_t total[RT_METRICS], self[RT_METRICS]; /* ns, bytes, counts */
};
typedef void (*path_visitor)(void *ctx, const struct path_value *v);
/* Tells every path of every thread. */
void target_read(struct target *t, path_visitor visit, void *ctx);

/* Waits of one thread at one place for one object. All of them are told with SUBJECT_NONE; and once
 * more for every subject with RT_WALL that was active, with the time since it was. A system call
 * inside a procedure that spins is part of that. */
struct wait_value {
	int tid; /* 0: of dead threads, of which there were too many to be told apart */
	uint32_t subject;
	uint32_t call; /* number of the system call; UINT32_MAX: it spins */
	uint64_t pc;   /* of the call's instruction, or of the procedure that spins */
	/* The address of the futex; the descriptor; the process that is waited for; what a spinning
	 * procedure gets as its first argument. UINT64_MAX: there is none, or it is not known. */
	uint64_t object;
	uint64_t count; /* that have ended */
	uint64_t wall_ns, bytes;
	/* Of these: operations that moved less than RT_SMALL bytes, or made less permanent. */
	uint64_t small_count, small_ns;
	uint64_t since_ns; /* how long one is in progress, which is in wall_ns; 0: none is */
};
typedef void (*wait_visitor)(void *ctx, const struct wait_value *v);
/* Tells the waits of all threads, but not those of subjects that were removed. One that differs in
 * nothing but its values may be told several times: they add up. Values never get less, but for a
 * wait that longjmp has left: it is in progress until its thread waits again, and forgotten then.
 */
void target_waits(struct target *t, wait_visitor visit, void *ctx);

/* What a thread that is in a system call waits for there: the object of a struct wait_value. False
 * if the call is none of those that wait, or a restarted one, which does not tell. */
bool call_object(const struct call_made *c, uint64_t *object);

/* Where a synchronisation object was made the last time since waits are watched (pthread_mutex_init
 * and the like), by any thread, or by the process that forked this one before: the return address
 * of that call. 0: not known. */
uint64_t target_made(const struct target *t, uint64_t object);

/* From where (run-time address of the call instruction) to where, indirect calls included. A pair
 * may be told several times: threads count by themselves. */
typedef void (*call_visitor)(void *ctx, uint64_t site, uint64_t target, uint64_t count);

/* Every image of a target with code, the vdso excepted, and how far its run-time addresses are from
 * its own; those that cannot be analysed are left out. */
typedef void (*image_visitor)(void *ctx, struct target *t, struct code *code, uint64_t bias);
int target_images(struct target *t, image_visitor visit, void *ctx, struct err *e);

/* A thread's stack, when its process was stopped. */
typedef void (*walk_visitor)(void *ctx, struct target *t, int tid, const struct walk *w,
			     const struct call_made *call); /* that it is in, or NULL */
