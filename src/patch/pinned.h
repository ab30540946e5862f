/* Code that has to be executed at its own address, because the interrupted pc is compared with its
 * bounds.
 *
 * A signal handler compares it: so C libraries cancel a thread in a system call (glibc since 2.41,
 * musl). The function that makes the call gets the address of the thread's flag, the number of the
 * call, and its arguments. It looks at the flag and enters the kernel. A handler that interrupts it
 * in between, or in the call, knows by the pc that it must not return there.
 *
 * The kernel compares it: in a restartable sequence (rseq(2)), a thread works on data of its CPU.
 * If the thread was preempted in there, the kernel sends it to the sequence's abort handler. In a
 * copy of the sequence it would go on, and two threads would change the same data. Allocators use
 * this. */
#pragma once
#include "flow/cfg.h"
#include "image/image.h"
#include "isa/arch.h"

/* Whether a function that makes cancellable system calls begins at va. */
bool is_pinned(const struct image *im, const struct arch *arch, uint64_t va);
/* Whether the procedure has instructions of a restartable sequence, or its abort handler. */
bool has_restartable(const struct image *im, const struct cfg *g);
