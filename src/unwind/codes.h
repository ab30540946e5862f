/* What space.c asks of struct codes: the files that processes map, each kept and opened once. */
#pragma once
#include "unwind/space.h"

/* The one copy of what is said about a file, without its code; good as long as c. Only the first
 * path_length characters of the path count. */
const struct mapped_image *codes_file(struct codes *c, const struct mapped_image *like,
				      size_t path_length);

/* The code of a file that process `pid` maps at `at`. Never NULL: a file that cannot be read
 * becomes a code with a problem. */
struct code *codes_open(struct codes *c, int pid, const struct mapped_image *file,
			const struct code_mapping *at);
