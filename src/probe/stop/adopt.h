/* Activations that were running already when the code that counts them goes in. */
#pragma once
#include "probe/stop/stop.h"

/* After stop_settle(): what is running of procedures that are about to be counted. Decides for each
 * thread whether it has passed the probes before its next instruction. */
void adopt_activations(struct stop *s);
