/* Finds what looks like a direct jump or call in the code of a module. Nothing is decoded, so this
 * takes only milliseconds. Other bytes may look like a jump, too; jumps that reach no further than
 * arch->short_jump are not found. */
#pragma once
#include "isa/arch.h"
#include "module/module.h"

struct far_jump {
	uint64_t from, target;
	bool call;
};

typedef void (*far_jump_visitor)(void *ctx, const struct far_jump *j);

void far_jumps(const struct module *m, const struct arch *arch, far_jump_visitor visit, void *ctx);
