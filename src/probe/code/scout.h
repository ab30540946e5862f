/* Searches modules for their system calls in the background, so that nobody waits for it: the
 * largest take seconds. The thread has files, flows and memory of its own. */
#pragma once
#include "probe/code/call_sites.h"

struct scout;

struct scout *scout_new(void);
/* Ends a search that is under way. */
void scout_free(struct scout *s);
/* Moves the system calls of the module to *out, if they are found by now. Otherwise they will be
 * searched for, and false is returned. Where there can be no thread, they are found at once. */
bool scout_ask(struct scout *s, const struct code *code, call_sites *out);
