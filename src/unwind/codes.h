/* The functions of struct codes that space.c uses: the files that processes map, each kept and
 * opened once. */
#pragma once
#include "unwind/space.h"

/* The unique copy of the description of a file, without its mappings; valid as long as c. Only the
 * first path_length characters of the path count. */
const struct mapped_module *codes_file(struct codes *c, const struct mapped_module *like,
				       size_t path_length);

/* The code of a file that process `pid` maps at `at`. Never NULL: for a file that cannot be read,
 * returns a code with `problem` set. */
struct code *codes_open(struct codes *c, int pid, const struct mapped_module *file,
			const struct code_mapping *at);
/* Whether the file itself has been written to since it was opened. One that was deleted or replaced
 * by another has not: it is read as it was. */
bool codes_has_changed(const struct code *code, int pid);
