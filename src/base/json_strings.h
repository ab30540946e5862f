/* Finds the strings in a JSON text: enough to read a name from the state file of another program.
 * Nothing is checked: a damaged text has other strings, or none. */
#pragma once
#include <stdbool.h>

/* Gets a string that is a value, the last key before it, and in how many objects and arrays it is;
 * returns false to end the scan. Escapes are left as they are, and what is too long is cut off:
 * keys after 63 bytes, values after 255. */
typedef bool (*json_on_string)(void *ctx, unsigned depth, const char *key, const char *value);

void json_each_string(const char *text, json_on_string on, void *ctx);
