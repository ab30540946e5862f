#include "process/call_name.h"

#include <stddef.h>
#include <sys/syscall.h>

static const char *const names[] = {
#include "call_names.inc"
};

const char *call_name(int number)
{
	size_t i = (size_t)number;
	return number >= 0 && i < sizeof(names) / sizeof(*names) && names[i] ? names[i]
									     : "a system call";
}
