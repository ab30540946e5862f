/* The place where the dynamic linker announces loaded and unloaded modules. */
#pragma once
#include "probe/code/codespace.h"

void rendezvous_add(struct target *t);
/* Whether a program that was just executed will get there before the first instruction of its
 * own. */
bool rendezvous_comes(const struct target *t);
bool rendezvous_consistent(struct target *t);
