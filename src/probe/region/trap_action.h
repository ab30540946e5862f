/* The program's action for SIGTRAP, as long as there are traps in it: the runtime's handler. */
#pragma once
#include "probe/region/target.h"
#include "process/remote.h"

/* False if the program has one of its own, or the call fails. */
bool trap_action_install(struct target *t);
/* SIGTRAP's action becomes the default one if it is `handler`. */
void trap_action_remove(const struct remote_slack *s, struct control *c, uint64_t region,
			uint64_t handler);
