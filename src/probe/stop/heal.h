/* What a sonde left in a program when it was killed. */
#pragma once
#include "probe/region/target.h"

/* Takes it out of the stopped target. If that fails, the target must not be probed. */
int heal(struct target *t, struct err *e);
