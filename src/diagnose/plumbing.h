/* Code that everybody goes through who waits: the C library, thread and message-passing libraries,
 * and of programs that have these in them, their best known procedures. Where a program waits is
 * the place from which it gets there. */
#pragma once
#include "diagnose/code.h"

bool is_plumbing(struct code_parts *c, uint32_t part);
/* The same of the procedure that has va. */
bool is_plumbing_at(const struct code *code, uint64_t va);
/* A procedure that waits without the kernel's help. */
bool is_spinning(const struct code_parts *c, uint32_t part);
