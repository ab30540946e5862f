/* Filters of system calls that the program has put on since the last stop. */
#pragma once
#include "probe/stop/stop.h"

/* With probes in, after stop_settle(): what the program may do from now on. False if the target has
 * to be left. */
bool filters_look(const struct stop *s);
