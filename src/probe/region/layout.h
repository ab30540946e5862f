/* The program's memory: where its code and its stacks are, and what of it is ours. */
#pragma once
#include "base/text.h"
#include "probe/region/target.h"

/* The extent of the stack that sp is on; 0 and 0 if that cannot be known. */
void layout_stack(struct target *t, uint64_t sp, uint64_t *low, uint64_t *high);
/* Reads the process's mappings anew. */
int layout_refresh(struct target *t, struct err *e);
/* Whether the runtime, or code memory, is there. */
bool is_code_memory(const struct target *t, uint64_t pc);
/* The same for any region. */
bool header_has_code(const struct rt_header *h, uint64_t pc);
/* /proc/PID/maps. */
bool layout_read_maps(int pid, struct text *out);
/* A place in the process for memory that need not be near anything; 0: wherever. */
uint64_t layout_aside(int pid, uint64_t size);
