/* System calls that may block. */
#pragma once
#include "process/threads.h"
#include "runtime/abi.h"

struct code;

/* Describes them for the runtime, in a table that is all zero. */
void calls_describe(uint16_t calls[RT_CALLS]);
/* For a call that a thread is in: a set of enum rt_call, 0 if it does not block; and the object it
 * waits for. */
uint32_t calls_class(const struct call_made *c, uint64_t *object);
/* The start of the pinned function (patch/pinned.h) that contains va; 0: none does. Such a function
 * makes system calls for its callers, so the probes are around the calls of it. */
uint64_t pinned_around(const struct code *code, uint64_t va);
