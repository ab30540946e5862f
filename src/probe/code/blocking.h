/* Subjects where the program may block. */
#pragma once
#include "probe/code/codespace.h"

/* Adds subjects for all system calls that may block, and for functions that spin. If waits are
 * watched, also for functions that initialise synchronisation objects. */
void blocking_add(struct target *t);
/* Adds subjects only for the calls that may install a seccomp filter (region/confinement.h). */
void blocking_guard(struct target *t);
