/* Counting ends while the program goes on, or a thread ends in the middle. */
#pragma once
#include "probe/stop/stop.h"

/* With the target stopped: all that was counted is kept, and nothing counts any more. */
void counting_end(struct target *t);
/* A thread ends where it is. */
void counting_end_thread(struct target *t, struct control_thread *th);
