/* Subjects where the program may block. */
#pragma once
#include "probe/code/codespace.h"

void blocking_add(struct target *t);
/* Only the calls that may install a filter (region/confinement.h). */
void blocking_guard(struct target *t);
