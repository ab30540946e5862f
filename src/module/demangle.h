/* Readable names of C++, Rust, D and Ada symbols, through libiberty. */
#pragma once
#include "base/arena.h"

/* The demangled name in `a`, or `name` itself if it is not mangled. Version suffixes (@GLIBC_2.17)
 * and compiler suffixes (.cold, .part.0, .constprop.0, ...) are kept. */
const char *demangle(struct arena *a, const char *name);
