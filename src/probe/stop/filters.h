/* Seccomp filters that the program has installed since the last stop. */
#pragma once
#include "probe/stop/stop.h"

/* With probes in, after stop_settle(): sets what the runtime may do from now on. False if the
 * target has to be left. */
bool filters_look(const struct stop *s);
