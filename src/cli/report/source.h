/* Source files, found by the path that debugging information gives them. That path is of the
 * machine that compiled; here the file may lie elsewhere. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "base/vec.h"

struct source {
	struct text path; /* where it was found; empty if it was not */
	char *bytes;
	VEC(const char *) lines; /* [0] is line 1; each ends with a NUL */
};

/* Looks for the recorded path itself; then for the longest part of its end that exists below
 * `folder` (may be NULL), then below the working directory. False if there is no such text. */
bool source_open(struct source *s, const char *recorded, const char *folder);
void source_close(struct source *s);
/* The text of a line, or NULL if the file has none of this number. */
const char *source_line(const struct source *s, uint32_t line);
