/* The program's action for SIGTRAP while there are traps in it: the runtime's handler. */
#pragma once
#include "probe/region/target.h"
#include "process/remote.h"

/* False if the program has an action of its own, or the call fails. */
bool trap_action_install(struct target *t);
/* Resets SIGTRAP to its default action if the action is `handler`. */
void trap_action_remove(const struct remote_slack *s, struct control *c, uint64_t region,
			uint64_t handler);
