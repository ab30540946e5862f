/* Frame records: the caller's frame pointer and the return address, side by side where the frame
 * pointer points. Some compilers keep them in all code, some in none. */
#pragma once
#include "isa/arch.h"
#include "module/module.h"

/* Whether nearly all functions of the module that save a return address keep a frame record,
 * according to the call frame information of a sample of them. False if there is no call frame
 * information. */
bool records_are_kept(const struct module *m, const struct arch *arch);
