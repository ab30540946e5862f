/* Pinned code: it must be executed at its original address, because somebody compares the
 * interrupted pc with the bounds of the code.
 *
 * A signal handler: C libraries cancel threads in system calls by means of this (glibc since 2.41,
 * musl). A function makes the call for its callers. Its arguments are the address of the thread's
 * cancellation flag, the number of the call, and the call's arguments. It reads the flag and enters
 * the kernel. If a signal interrupts it after it has read the flag, or in the call, the handler
 * recognises this by the pc, and does not return there.
 *
 * The kernel: in a restartable sequence (rseq(2)), a thread works on data of its CPU. If the thread
 * is preempted in there, the kernel sends it to the sequence's abort handler. In a copy of the
 * sequence it would continue, and two threads would change the same data. Allocators use this. */
#pragma once
#include "flow/cfg.h"
#include "isa/arch.h"
#include "module/module.h"

/* Whether a function that makes cancellable system calls begins at va. */
bool is_pinned(const struct module *m, const struct arch *arch, uint64_t va);
/* Whether the function has instructions of a restartable sequence, or its abort handler. */
bool has_restartable(const struct module *m, const struct cfg *g);
