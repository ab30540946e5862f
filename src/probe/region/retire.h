/* Threads that have ended: their values are kept. */
#pragma once
#include "probe/region/target.h"

/* Keeps the values of a thread that has ended, and frees its area. */
void threads_retire(struct target *t, int tid);
void threads_retire_all(struct target *t);
