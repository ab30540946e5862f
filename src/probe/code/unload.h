/* Images that are gone. */
#pragma once
#include "probe/code/codespace.h"

/* Forgets probes in them. */
void forget_unloaded(struct target *t);
