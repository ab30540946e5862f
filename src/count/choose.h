/* Which images the user wants counted. */
#pragma once
#include <stdbool.h>

/* `images`: "main", "all", or names and patterns separated by commas, of which "main" may be one.
 */
bool count_chooses(const char *images, int pid, const char *path);
