/* Names of C++ procedures without what nobody writes. */
#pragma once
#include "base/arena.h"

/* A demangled name in `a`, shortened as a programmer would have written it: without default
 * template arguments of the standard library (allocators, character traits, comparisons, hashes)
 * and its inline namespaces, and with std::string for std::basic_string<char>, likewise streams.
 * Other names come back as they are. */
const char *short_name(struct arena *a, const char *name);
