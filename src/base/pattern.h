/* Glob patterns for names: `*` any text, `?` any character, `[a-z]` and `[!a-z]` one character of a
 * set,
 * `\` takes the next character literally. Case counts, and nothing is special about `/` or `.`. */
#pragma once
#include <stdbool.h>

/* True if all of `name` matches. A pattern also matches the name that it spells out, so that
 * `operator[]` needs no backslash. Takes time proportional to the product of the lengths at worst.
 */
bool pattern_match(const char *pattern, const char *name);
