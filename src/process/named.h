/* Running processes by what people call them: the name of the program as it was started, or the
 * first word of the title that a server gives itself. */
#pragma once
#include "process/threads.h"

/* Adds the processes that have this name, but none that a process of the same name has started:
 * of a server, the master. Not this process itself. */
void processes_named(const char *name, tid_list *out);
/* What a process calls itself: its arguments, or its title; at most `size` - 1 bytes. */
void process_title(int pid, char *out, size_t size);
