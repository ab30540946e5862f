/* How much of the stack each sample copies.
 *
 * Copying stacks is most of the overhead of sampling. Where all code keeps frame records, as
 * compilers make it on aarch64, the kernel's walk along the records and a few bytes of the stack
 * (LEAN_STACK) give the same call stacks. Samples with no more than that are lean.
 *
 * Samples begin full. They become lean when few bytes would have been enough for
 * SAMPLES_BEFORE_LEAN samples in a row. If some mapped code keeps no records, although no sample
 * has been in it, these samples must also span MIN_LEAN_NS. As soon as few bytes are not enough, or
 * stacks are so deep that the kernel may soon not follow all records, samples are full again, for
 * the rest of the run. */
#pragma once
#include "sample/sampler.h"
#include "unwind/space.h"

struct lean {
	struct sampler *sampler;
	unsigned in_a_row; /* samples for which few bytes were enough, or would have been */
	uint64_t since;    /* time of the first of them, ns */
	bool on, never;
};

/* To be called for each sample. `enough`: whether LEAN_STACK bytes and frame records were all that
 * the sample needed. */
void lean_learn(struct lean *l, const struct sample *s, struct space *space, bool enough);
