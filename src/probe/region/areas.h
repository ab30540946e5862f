/* An area for each thread, ready before its first instruction. */
#pragma once
#include "probe/region/target.h"

void areas_prepare(struct target *t, struct control_thread *th);
void areas_prepare_all(struct target *t);
/* Threads that are stopped and had no thread pointer before: a program sets that of its first one
 * up when it starts. A thread that the runtime does not know has to ask the kernel for its number,
 * and the program's filter of system calls (seccomp) might kill it for that. */
void areas_introduce(struct target *t);
/* The area is free for another thread. */
void areas_free(struct target *t, uint32_t number);
struct rt_area *areas_of(struct target *t, int tid);
struct thread_slot *areas_slot(struct target *t, int tid);
/* RT_AREAS: it has none. */
uint32_t areas_number(const struct target *t, int tid);
