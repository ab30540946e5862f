/* The modules that a process has mapped. */
#pragma once
#include "probe/region/target.h"

/* The symbol of this name, or NULL. */
const struct symbol *module_find_symbol(const struct module *m, const char *name);
/* Where the kernel has loaded a dynamic linker with the program (AT_BASE); 0: it has not. */
uint64_t dynamic_linker_base(int pid);
/* Visits the dynamic linker, and opens no other module. If the kernel has loaded none, it may be
 * part of the program, or the program itself: all modules are visited. */
int target_dynamic_linker(struct target *t, module_visitor visit, void *ctx, struct err *e);
