/* Adopting activations that were already running when their probes went in. */
#pragma once
#include "probe/stop/stop.h"

/* Begins the running activations of fresh subjects in one thread. Returns their number. */
uint32_t adopt_measured(struct target *t, const struct stopped_walk *w);
/* The same of all subjects, in threads that got their area in this stop. */
void adopt_newborn(struct stop *s);
/* Ends the activations of removed subjects. */
void end_activations(struct target *t, int tid);
