/* Looking closely at one thread, for a moment: where it waits, without stopping it; else by
 * stopping it with ptrace. */
#pragma once
#include "base/vec.h"
#include "process/tracee.h"
#include "sample/waiting.h"

typedef void (*inside_fn)(void *ctx, const struct registers *regs);

/* A thread that does not stop at once, being deep in the kernel, cannot be let go before it does:
 * it is kept here until then. */
struct holds {
	VEC(struct late_hold {
		struct tracee tracee;
		bool child;
	})
	late;
};

/* False if the thread ended, went on meanwhile, or may not be stopped: what `inside` has seen, if
 * it was called at all, is worth nothing then. `child`: it is the first thread of a child of ours,
 * whose status the caller is waiting for. */
bool hold_thread(struct holds *h, int pid, int tid, bool child, inside_fn inside, void *ctx);
/* Lets go what has stopped late; to be called often while there are any. */
void holds_let_go(struct holds *h);
void holds_release(struct holds *h);
