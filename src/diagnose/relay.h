/* Procedures that make whichever system call their caller asks for: syscall(), and what all
 * cancellable functions of glibc go through since 2.41. Of time in there the question is who asked.
 */
#pragma once
#include "flow/cfg.h"
#include "unwind/space.h"

struct relay {
	bool calls;    /* makes a call, and never one that it chooses itself */
	uint64_t next; /* hands all its arguments on to the procedure there, as they are; or 0 */
};

struct relay relay_in(const struct code *code, const struct cfg *g);
