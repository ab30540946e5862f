#include "process/auxv.h"

#include <stdio.h>
#include <string.h>

#include "process/proc_text.h"

uint64_t auxv_value(int pid, uint64_t type)
{
	struct text auxv = TEXT_INIT;
	char path[32];
	uint64_t pair[2], found = 0;
	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	if (!proc_read_text(path, &auxv))
		auxv.len = 0;
	for (size_t at = 0; at + sizeof(pair) <= auxv.len && !found; at += sizeof(pair)) {
		memcpy(pair, auxv.data + at, sizeof(pair));
		found = pair[0] == type ? pair[1] : 0;
	}
	text_release(&auxv);
	return found;
}
