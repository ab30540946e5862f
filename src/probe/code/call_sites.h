/* Where a module has system call instructions: every place whose bytes are one.
 *
 * To find them takes a scan of all code, and programs have gigabytes of it in which there is hardly
 * any. So the result for a large module is kept in the cache (module/cache_file.h), and the bytes
 * that were scanned are given back. */
#pragma once
#include "base/vec.h"
#include "unwind/codes.h"

/* Addresses in the module, ascending. */
typedef VEC(uint64_t) call_sites;

void call_sites_find(call_sites *out, const struct module *m, const struct arch *arch);
