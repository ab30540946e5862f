/* Code that has to be executed where it stands: the handler of a signal compares the interrupted pc
 * with its bounds.
 *
 * So C libraries cancel a thread in a system call (glibc since 2.41, musl). The function that makes
 * the call is told where the thread's flag is, the number of the call, and its arguments. It looks
 * at the flag and goes into the kernel. A handler that interrupts it in between, or in the call,
 * knows by the pc that it must not come back. */
#pragma once
#include "isa/arch.h"
#include "module/module.h"

/* Whether such a function begins at va. */
bool is_pinned(const struct module *m, const struct arch *arch, uint64_t va);
