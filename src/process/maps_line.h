/* Lines of /proc/PID/maps. Programs have thousands of them, and some are read while the program is
 * stopped, so they are not parsed with sscanf(). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct maps_line {
	uint64_t start, end, offset, inode;
	uint32_t device_major, device_minor;
	char access[4];   /* "r-xp" */
	const char *path; /* in the text, so not terminated; a newline in it is \012 */
	size_t path_length;
};

/* Parses the next line that is one, and moves *text behind it; false at the end of the text. */
bool maps_next_line(const char **text, struct maps_line *out);

bool maps_line_is_code(const struct maps_line *l);
bool maps_line_has_path(const struct maps_line *l, const char *path);
