#include "process/started.h"

#include <elf.h>
#include <string.h>

#include "process/auxv.h"
#include "process/memory.h"

bool started_as(int pid, char *out, size_t size)
{
	uint64_t at = auxv_value(pid, AT_EXECFN);
	size_t n = at ? memory_read(pid, at, out, size) : 0;
	return n && memchr(out, '\0', n) && *out == '/';
}
