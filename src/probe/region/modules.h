/* The modules that a process has mapped. */
#pragma once
#include "probe/region/target.h"

/* NULL if there is no symbol of this name. */
const struct symbol *module_find_symbol(const struct module *im, const char *name);
/* Whether the kernel has loaded a dynamic linker with the program. */
bool has_dynamic_linker(int pid);
