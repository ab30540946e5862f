/* Ends counting while the program continues, or for a thread that ends in the middle of a
 * function. */
#pragma once
#include "probe/stop/stop.h"

/* With the target stopped: keeps all counts, and ends counting. */
void counting_end(struct target *t);
/* Notes the place of a thread that is about to end. */
void counting_end_thread(struct target *t, struct control_thread *th);
