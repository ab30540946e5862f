/* Getting ready for a stop. */
#pragma once
#include "probe/region/target.h"

/* Stops a process like target_stop(), when the code that its threads are in is analysed: whoever
 * walks their stacks then takes no longer than that. For that, it may be stopped more than once,
 * and the time since `*begin`, if it is not NULL, is that of all these stops. */
int stop_to_walk(struct target *t, uint64_t *begin, struct err *e);

/* The same for the first stop of a process that is traced and runs. */
int stop_rehearsed(struct target *t, struct err *e);
