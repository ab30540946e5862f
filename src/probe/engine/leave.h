/* Taking everything out of a program and letting it go. */
#pragma once
#include "probe/engine/events.h"

void leave(struct target *t);
