/* How much of the stack the samples bring.
 *
 * Copying stacks is what costs the program most. Where all code keeps frame records, as compilers
 * make it on aarch64, the kernel's walk along them and a few bytes give the same paths. So samples
 * bring much at first, until that has been found to be too much many times in a row; and for a long
 * time, if some code is mapped that keeps no records, although none of it was met. As soon as
 * little is not enough, or stacks are so deep that soon it may not be, samples bring much again,
 * for good. */
#pragma once
#include "sample/sampler.h"
#include "unwind/space.h"

struct lean {
	struct sampler *sampler;
	unsigned in_a_row; /* samples for which little was enough, or would have been */
	uint64_t since;    /* time of the first of them, ns */
	bool on, never;
};

/* `enough`: whether LEAN_STACK bytes and frame records were all that a sample needed. */
void lean_learn(struct lean *l, const struct sample *s, struct space *space, bool enough);
