/* Source files, found by the path in the debugging information. That is a path on the machine that
 * compiled the program; here the file may be elsewhere. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "base/vec.h"

struct source_file {
	struct text path; /* where the file was found; empty if it was not */
	char *bytes;
	VEC(const char *) lines; /* [0] is line 1; each ends with a NUL */
};

/* Tries the recorded path itself; then the longest suffix of it that exists below `folder` (may be
 * NULL), then below the working directory. Returns false if no file is found. */
bool source_open(struct source_file *s, const char *recorded, const char *folder);
void source_close(struct source_file *s);
/* Returns the text of a line, or NULL if the file has no such line. */
const char *source_line(const struct source_file *s, uint32_t line);
