/* Pinned code: it must be executed at its original address, because a signal handler compares the
 * interrupted pc with the bounds of the code.
 *
 * C libraries cancel threads in system calls by means of this (glibc since 2.41, musl). A function
 * makes the call for its callers. Its arguments are the address of the thread's cancellation flag,
 * the number of the call, and the call's arguments. It reads the flag and enters the kernel. If a
 * signal interrupts it after it has read the flag, or in the call, the handler recognises this by
 * the pc, and does not return there. */
#pragma once
#include "isa/arch.h"
#include "module/module.h"

/* Whether a pinned function begins at va. */
bool is_pinned(const struct module *m, const struct arch *arch, uint64_t va);
