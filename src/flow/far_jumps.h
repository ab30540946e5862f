/* What looks like a direct jump or call in the code of an image: found without decoding it, so that
 * it takes milliseconds. Other bytes may look like one; jumps that reach no further than
 * arch->short_jump are left out. */
#pragma once
#include "image/image.h"
#include "isa/arch.h"

struct far_jump {
	uint64_t from, target;
	bool call;
};

typedef void (*far_jump_visitor)(void *ctx, const struct far_jump *j);

void far_jumps(const struct image *im, const struct arch *arch, far_jump_visitor visit, void *ctx);
