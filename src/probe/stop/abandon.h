/* Counting ends while the program continues, or a thread ends in the middle of a function. */
#pragma once
#include "probe/stop/stop.h"

/* With the target stopped: keeps all counts, and ends counting. */
void counting_end(struct target *t);
/* Notes where a thread is that ends. */
void counting_end_thread(struct target *t, struct control_thread *th);
