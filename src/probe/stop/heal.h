/* Removing what a killed sonde left in a program. */
#pragma once
#include "probe/region/target.h"

/* Takes it out of the stopped target. If this fails, the target must not be probed. Memory that a
 * thread does not get out of stays (`unhealed`). */
int heal(struct target *t, struct err *e);
