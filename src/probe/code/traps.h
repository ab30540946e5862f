/* Traps: the last resort, where a jump has no room. */
#pragma once
#include "probe/code/codespace.h"

/* At the beginning of a batch: if SIGTRAP's action is not ours any more, sites with traps have to
 * change. */
void traps_look(struct target *t);
/* Whether this batch may use them in the site. */
bool traps_possible(struct target *t, const struct site *s);
uint32_t count_traps(const struct fragment *f);
/* With the target stopped: whether all is ready for traps of the next fragments of these sites. */
bool traps_ready(struct target *t, const uint32_t *sites, uint32_t count);
/* Enters the traps of a site in the runtime's table, before they go in. */
void traps_enter(struct target *t, const struct site *s);
/* Takes those of retired fragments out of it. */
void traps_forget_retired(struct target *t);
/* Where a thread has to go that got its signal at `pc`; 0: it is no trap of ours. */
uint64_t trap_leads_to(const struct target *t, uint64_t pc);
/* Whether the stopped thread, at `pc`, will get the signal of a trap of ours as soon as it runs. */
bool is_trapped(const struct target *t, const struct control_thread *th, uint64_t pc);
