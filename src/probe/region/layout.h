/* The program's memory: its code and stacks, and the parts that are ours. */
#pragma once
#include "base/text.h"
#include "probe/region/target.h"

/* The mappings of a process at one time, by address. */
struct mapping_line {
	uint64_t start, end;
	bool executable, stack;
};

struct memory_map {
	int pid;
	VEC(struct mapping_line) lines;
};

void memory_map_read(struct memory_map *m, int pid);
void memory_map_release(struct memory_map *m);
/* The extent of the stack that sp is on; 0 and 0 if it is unknown. */
void memory_map_stack(const struct memory_map *m, uint64_t sp, uint64_t *low, uint64_t *high);
/* The same for one look-up. */
void layout_stack(struct target *t, uint64_t sp, uint64_t *low, uint64_t *high);
/* Reads the process's mappings again. */
int layout_refresh(struct target *t, struct err *e);
/* Whether the pc is in the runtime or in code memory. */
bool is_code_memory(const struct target *t, uint64_t pc);
/* The same, for the region with this header. */
bool header_has_code(const struct rt_header *h, uint64_t pc);
/* Appends the text of /proc/PID/maps; false if there is none. */
bool layout_read_maps(int pid, struct text *out);
/* An address in the process for memory that need not be near anything; 0: let the kernel choose. */
uint64_t layout_aside(int pid, uint64_t size);
