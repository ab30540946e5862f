/* The system calls in the code of a module.
 *
 * To find them takes a scan of all code, and programs have gigabytes of it in which there is hardly
 * any. On x86-64, the two bytes of the instruction occur by chance in each 64 KB, so the flow graph
 * of the function has to tell. The result for a large module is kept in the cache
 * (module/cache_file.h), and the bytes that were scanned are given back. */
#pragma once
#include <stdatomic.h>

#include "base/vec.h"
#include "unwind/codes.h"

struct system_call {
	uint64_t va;
	int64_t number; /* of the system call; -1: the code right before it does not set it */
};

/* Ascending addresses in the module. */
typedef VEC(struct system_call) call_sites;

/* `stop` may be NULL. Once it is set, the search ends soon, and returns false. */
bool call_sites_find(call_sites *out, struct flow *f, const atomic_bool *stop);
/* Finds them only if that is quick: the module is small, or the cache has them. */
bool call_sites_find_soon(call_sites *out, struct flow *f);

/* The function that contains va, or UINT32_MAX. If the module's tables do not give its bounds, it
 * is searched for. */
uint32_t call_sites_function(struct flow *f, uint64_t va);
