/* Glob patterns for names: `*` matches any text, `?` any character, `[a-z]` and `[!a-z]` one
 * character of a set; `\` takes the next character literally. Case matters, and `/` and `.` are
 * ordinary characters. */
#pragma once
#include <stdbool.h>

/* True if the pattern matches all of `name`. A pattern also matches the name that it spells out, so
 * that `operator[]` needs no backslash. Takes time proportional to the product of the lengths at
 * worst. */
bool pattern_match(const char *pattern, const char *name);
