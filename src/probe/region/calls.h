/* System calls that may wait. */
#pragma once
#include "process/threads.h"
#include "runtime/abi.h"

/* What the runtime has to know of them, into a table that is all zero. */
void calls_describe(uint16_t calls[RT_CALLS]);
/* Of one that a thread is in: a set of enum rt_call, 0 if it does not wait; and what for. */
uint32_t calls_class(const struct call_made *c, uint64_t *object);
