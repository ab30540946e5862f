/* Barriers that programs write themselves: a function that waits for a condition variable, and
 * wakes all that wait for it. The last thread that arrives wakes the others. */
#pragma once
#include "flow/cfg.h"
#include "unwind/space.h"

bool is_hand_barrier(const struct code *code, const struct cfg *g);
