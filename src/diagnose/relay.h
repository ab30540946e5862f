/* A relay is a function that makes whichever system call its caller asks for: syscall(), and since
 * glibc 2.41 the function through which all cancellable functions make theirs. Time in a relay
 * counts for the code that asked for the call. */
#pragma once
#include "flow/cfg.h"
#include "unwind/space.h"

struct relay {
	bool calls;    /* it makes system calls, and chooses none of them itself */
	uint64_t next; /* the function that it calls with its own arguments, unchanged; or 0 */
};

struct relay relay_in(const struct code *code, const struct cfg *g);
