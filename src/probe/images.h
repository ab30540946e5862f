/* The images of a process, each with the distance of its run-time addresses from its own. */
#pragma once
#include "probe/target.h"

/* NULL if there is none of this name. */
const struct symbol *image_find_symbol(const struct image *im, const char *name);
