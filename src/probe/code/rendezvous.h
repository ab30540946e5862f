/* The place where the dynamic linker announces loaded and unloaded modules. */
#pragma once
#include "probe/code/codespace.h"

/* Adds the probe, unless it is in already or no module has that function. */
void rendezvous_add(struct target *t);
/* Opens and analyses what rendezvous_add() needs, before the program is stopped for it. */
void rendezvous_prepare(struct target *t);
/* Whether a program that was just executed will call the function before its own first
 * instruction. */
bool rendezvous_comes(const struct target *t);
/* Whether the list of modules is consistent: the dynamic linker is not in the middle of a
 * change. */
bool rendezvous_consistent(struct target *t);
