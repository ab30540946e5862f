/* Taking everything out of a program and detaching from it. */
#pragma once
#include "probe/engine/events.h"

void leave(struct target *t);
