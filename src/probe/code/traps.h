/* Traps: the last resort, where there is no room for a jump. */
#pragma once
#include "probe/code/codespace.h"

/* At the beginning of a batch: if SIGTRAP's action is not ours any more, sites with traps have to
 * change. */
void traps_look(struct target *t);
/* Whether this batch may use traps in the site. */
bool traps_possible(struct target *t, const struct site *s);
uint32_t count_traps(const struct fragment *f);
/* With the target stopped: prepares for the traps of these sites' next fragments; false if that
 * fails. */
bool traps_ready(struct target *t, const uint32_t *sites, uint32_t count);
/* Enters the traps of a site in the runtime's table. Must be called before they go in. */
void traps_enter(struct target *t, const struct site *s);
/* Removes the traps of retired fragments from the table. */
void traps_forget_retired(struct target *t);
/* Where a thread continues that got SIGTRAP at `pc`; 0: it was no trap of ours. */
uint64_t trap_leads_to(const struct target *t, uint64_t pc);
/* Whether the stopped thread, at `pc`, has executed a trap of ours and will get its signal as soon
 * as it runs. */
bool is_trapped(const struct target *t, const struct control_thread *th, uint64_t pc);
