/* The images of a process, each with the distance of its run-time addresses from its own. */
#pragma once
#include "probe/target.h"

typedef void (*image_visitor)(void *ctx, struct target *t, struct code *code, uint64_t bias);
/* Every image with code, the vdso excepted; those that cannot be analysed are left out. */
int images_each(struct target *t, image_visitor visit, void *ctx, struct err *e);

/* NULL if there is none of this name. */
const struct symbol *image_find_symbol(const struct image *im, const char *name);
