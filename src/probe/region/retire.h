/* Threads that have ended: what their areas hold is kept. */
#pragma once
#include "probe/region/target.h"

/* The thread is gone: keeps its values, and its area is free for another one. */
void threads_retire(struct target *t, int tid);
void threads_retire_all(struct target *t);
