/* What a process has mapped. */
#pragma once
#include "probe/region/target.h"

/* NULL if there is none of this name. */
const struct symbol *image_find_symbol(const struct image *im, const char *name);
/* Whether the kernel has put a dynamic linker beside the program. */
bool has_dynamic_linker(int pid);
