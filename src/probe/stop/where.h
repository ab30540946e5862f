/* Threads, and memory of ours that they are in or will return to. */
#pragma once
#include "probe/region/target.h"

/* Calls `finds` for the words of the stack from sp upwards until it returns true. Returns whether
 * it did. */
typedef bool (*word_finder)(void *ctx, uint64_t word);
bool stack_has(struct target *t, uint64_t sp, word_finder finds, void *ctx);
/* Whether a frame of the walked stack is in code memory of the region with this header: a signal
 * handler interrupted a probe. */
bool stack_leads_to(struct target *t, const struct rt_header *h, const struct registers *r,
		    const struct walk *w);
/* Whether the thread is in code memory of the region with this header, or will return there. */
bool thread_is_in(struct target *t, struct control_thread *th, const struct rt_header *h);
/* Clears the registers in which calls pass shadow frames of this region (counters/calls.c). No
 * thread is in its code any more, and the code of another sonde must not take them for its own. */
void clear_passed_registers(struct target *t, uint64_t region);
