/* Threads, and memory of ours that they may come back to. */
#pragma once
#include "probe/region/target.h"

/* Whether a word of the stack, from sp up, is one that is looked for. */
typedef bool (*word_finder)(void *ctx, uint64_t word);
bool stack_has(struct target *t, uint64_t sp, word_finder finds, void *ctx);
/* Whether a frame of the walked stack is in code memory of the region with this header: a signal
 * handler interrupted a probe. */
bool stack_leads_to(struct target *t, const struct rt_header *h, const struct registers *r,
		    const struct walk *w);
/* Whether the thread is, or will come back to, code memory of the region with this header. */
bool thread_is_in(struct target *t, struct control_thread *th, const struct rt_header *h);
/* No thread is in code of the region any more: what calls pass in registers (tally/calls.c) is
 * nobody's, and the code of another sonde must not take it for its own. */
void forget_passed(struct target *t, uint64_t region);
