/* An area for each thread, prepared before the thread's first instruction or, if births are
 * ignored, in the first stop after it. */
#pragma once
#include "probe/region/target.h"

/* Gives a thread an area if one is free; prepares it, and enters it in the thread table. */
void areas_prepare(struct target *t, struct control_thread *th);
void areas_prepare_all(struct target *t);
/* Registers stopped threads that have no area yet, or had no thread pointer before: a program sets
 * up that of its first thread when it starts. A thread that the runtime does not know would have to
 * ask the kernel for its tid, and the program's seccomp filter might kill it for that. */
void areas_introduce(struct target *t);
/* Frees the area for another thread. */
void areas_free(struct target *t, uint32_t number);
struct rt_area *areas_of(struct target *t, int tid);
struct thread_slot *areas_slot(struct target *t, int tid);
/* The number of the thread's area; RT_AREAS if it has none. */
uint32_t areas_number(const struct target *t, int tid);
