/* Whole files of /proc. */
#pragma once
#include <stdbool.h>

#include "base/text.h"

/* Appends the file's text; false, with errno set, if it cannot be read to its end. */
bool proc_read_text(const char *path, struct text *out);
