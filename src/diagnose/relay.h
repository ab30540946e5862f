/* A relay is a function that makes whichever system call its caller asks for: syscall(), and since
 * glibc 2.41 the function through which all cancellable functions make theirs. Time in a relay
 * counts for the code that asked for the call. */
#pragma once
#include "flow/cfg.h"
#include "unwind/space.h"

struct relay {
	bool calls;    /* makes a call, and never one that it chooses itself */
	uint64_t next; /* passes all its arguments on unchanged to the function there; or 0 */
};

struct relay relay_in(const struct code *code, const struct cfg *g);
