/* Gives a short look at the registers and the memory of one thread. A thread that waits is read
 * without stopping it; any other is stopped with ptrace. */
#pragma once
#include "base/vec.h"
#include "process/tracee.h"
#include "sample/waiting.h"

typedef void (*inside_fn)(void *ctx, const struct registers *regs);

/* Threads that did not stop in time, because they are deep in the kernel. They cannot be detached
 * before they stop, so they are kept here until then. */
struct holds {
	VEC(struct late_hold {
		struct tracee tracee;
		bool child;
	})
	late;
};

/* Calls `inside` while the thread waits or is stopped. Returns false if the thread has ended, has
 * run while `inside` read it, or may not be stopped. Then `inside` was not called, or what it has
 * read is to be discarded. `child` says that this is the first thread of a child of ours, whose
 * status the caller waits for. */
bool hold_thread(struct holds *h, int pid, int tid, bool child, inside_fn inside, void *ctx);
/* Detaches the threads that have stopped by now. To be called often while `late` is not empty. */
void holds_let_go(struct holds *h);
void holds_release(struct holds *h);
