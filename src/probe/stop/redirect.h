/* From old fragments to new ones. */
#pragma once
#include "probe/stop/stop.h"

/* With the changes in: whoever is in an old fragment is led to the new one. */
void redirect_retired(const struct stop *s);
