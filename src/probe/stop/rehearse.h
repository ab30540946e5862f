/* Getting ready for a stop. */
#pragma once
#include "probe/region/target.h"

/* Stops a process that is traced and runs, when the code that its threads are in is analysed: stops
 * walk through it. For that, the process may be stopped before, for no longer than it takes to read
 * registers. On an error, it runs. */
int stop_rehearsed(struct target *t, struct err *e);
