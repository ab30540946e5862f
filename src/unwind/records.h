/* Frame records: the caller's frame pointer and the return address, side by side where the frame
 * pointer points. Some compilers keep them in all code, some in none. */
#pragma once
#include "image/image.h"
#include "isa/arch.h"

/* Whether nearly all procedures of the image that save a return address keep such a record, by what
 * call frame information says of a number of them. False if that says nothing. */
bool records_are_kept(const struct image *im, const struct arch *arch);
