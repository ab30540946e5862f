/* Names of C++ functions without the parts that nobody writes. */
#pragma once
#include "base/arena.h"
#include "base/text.h"

/* Returns a demangled name, shortened to what a programmer would have written: without default
 * template arguments of the standard library (allocators, character traits, comparisons, hashes)
 * and without its inline namespaces, and with std::string for std::basic_string<char>, likewise
 * for streams. A shortened name is in `a`; a name without "std::" is returned itself. */
const char *short_name(struct arena *a, const char *name);

/* Adds the name of a function without its template arguments, parameters and result:
 * "std::map::at". */
void bare_name(struct text *out, const char *name);

/* The length of the first name of a chain of calls, as in "main > relax". */
size_t chain_step(const char *chain);
