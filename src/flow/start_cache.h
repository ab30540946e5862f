/* The starts that a file gives, kept in the user's cache directory (module/cache_file.h): to
 * collect them, all symbols, frame ranges and relocations have to be read and sorted, which takes a
 * second for a library of half a gigabyte. */
#pragma once
#include "flow/internal.h"

/* Does what starts_from_file() does; false if there is no usable file. */
bool start_cache_load(struct flow *f);
/* Call it after starts_from_file(), and once more when flow_discover_near() has found more. Does
 * nothing for small modules, which are quick to read. */
void start_cache_store(const struct flow *f);
