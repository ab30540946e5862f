/* Modules that were unloaded. */
#pragma once
#include "probe/code/codespace.h"

/* Forgets the probes in them. */
void forget_unloaded(struct target *t);
