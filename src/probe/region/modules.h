/* The modules that a process has mapped. */
#pragma once
#include "probe/region/target.h"

/* The symbol of this name, or NULL. */
const struct symbol *module_find_symbol(const struct module *m, const char *name);
/* Whether the kernel has loaded a dynamic linker with the program. */
bool has_dynamic_linker(int pid);
