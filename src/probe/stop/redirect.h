/* Leading threads from old fragments to new ones. */
#pragma once
#include "probe/stop/stop.h"

/* After the changes: leads threads that are in an old fragment to the new one. */
void redirect_retired(const struct stop *s);
