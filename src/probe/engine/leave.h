/* Taking everything out of a program and detaching from it. */
#pragma once
#include "probe/engine/events.h"

/* Takes everything out if it can, ends counting, keeps all values, and detaches. */
void leave(struct target *t);
