/* Meeting the dynamic linker, where it tells of images. */
#pragma once
#include "probe/code/codespace.h"

void rendezvous_add(struct target *t);
/* Whether a program that was just executed will come there before its own first instruction. */
bool rendezvous_comes(const struct target *t);
bool rendezvous_consistent(struct target *t);
