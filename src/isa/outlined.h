/* Functions that compilers call in place of an atomic instruction, because not every CPU has that:
 * gcc and clang on aarch64 (-moutline-atomics, the default). */
#pragma once
#include "isa/insn.h"

/* If the call is of such a function, it becomes the instruction; otherwise false. */
bool outlined_atomic(const char *function, struct insn *call);
