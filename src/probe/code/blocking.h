/* Subjects where the program may wait. */
#pragma once
#include "probe/code/codespace.h"

void blocking_add(struct target *t);
/* Only those that may confine the program (region/confinement.h). */
void blocking_guard(struct target *t);
