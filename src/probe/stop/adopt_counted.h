/* Adopting activations that are already running when the code that counts them goes in. */
#pragma once
#include "probe/stop/stop.h"

/* After stop_settle(): adopts the running activations of functions that are about to be counted.
 * Decides for each thread whether it has passed the probes before its next instruction
 * (`probed`). */
void adopt_counted(struct stop *s);
