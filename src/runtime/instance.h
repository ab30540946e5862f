/* A cache of walks.
 *
 * A walk depends on the registers at the probe and on certain words of the stack, nothing else. So
 * it is cached under (probe, stack pointer) together with these words. If all of them still have
 * their values, each frame leads to the same next frame, by induction from the innermost one, and
 * the path is the same. The words are compared in the order in which the walk read them: a word is
 * read only after those before it have shown that its address is right. */
#pragma once
#include "runtime/hit.h"

enum {
	NEEDS_FP = 1,   /* the walk depended on the frame pointer's value at the probe */
	NEEDS_LINK = 2, /* the walk depended on the link register's value at the probe */
};

struct stack_word {
	uint64_t address, value;
};

struct instance {
	uint64_t probe; /* 0: none */
	uint64_t sp, fp, link;
	uint64_t root, epoch;
	uint32_t path, anchor; /* anchor: number of an activation, or 0 */
	uint32_t needs, count;
	struct stack_word words[RT_INSTANCE_WORDS];
};
_Static_assert(sizeof(struct instance) == RT_INSTANCE_SIZE, "abi.h says otherwise");

/* A path (offset / 8), and the CFA of its outermost frame, which identifies the stack among those
 * of the thread. */
struct rooted_path {
	uint32_t path; /* 0: no room, or the subject keeps no paths */
	uint64_t root;
};

/* walk.c: the path to this hit, from the cache or by a new walk. */
struct rooted_path walk_here(const struct hit *h);

HOT uint64_t word_at(uint64_t address)
{
	return *(const volatile uint64_t *)address;
}

HOT struct instance *instance_of(struct rt_area *a, const struct rt_probe *p, uint64_t sp)
{
	uint64_t key = ((uint64_t)p >> 3) * 31 + (sp >> 4);
	return area_at(a, RT_AREA_INSTANCES + key % RT_INSTANCES * RT_INSTANCE_SIZE);
}

/* Whether the anchor is still the same activation: it is running, and its path is the parent of the
 * cached path. */
HOT bool anchor_holds(struct hit h, const struct instance *in)
{
	const struct rt_activation *a = area_activation(h.area, in->anchor);
	return a->cfa == in->root && a->path == area_path(h.area, in->path)->parent;
}

HOT bool holds(struct hit h, const struct instance *in, uint64_t sp)
{
	if (in->probe != (uint64_t)h.probe || in->sp != sp || in->epoch != region_header()->epoch ||
	    (in->needs & NEEDS_FP && in->fp != frame_fp(h.frame)) ||
	    (in->needs & NEEDS_LINK && in->link != frame_link(h.frame)))
		return false;
	uint32_t count = in->count;
	if (unlikely(count > RT_INSTANCE_WORDS))
		return false;
	for (const struct stack_word *w = in->words, *end = w + count; w < end; w++)
		if (word_at(w->address) != w->value)
			return false;
	return !in->anchor || anchor_holds(h, in);
}

/* The path to this hit if it is in the cache; otherwise path 0. */
HOT struct rooted_path remembered(struct hit h)
{
	uint64_t sp = frame_sp(h.frame);
	const struct instance *in = instance_of(h.area, h.probe, sp);
	if (unlikely(!holds(h, in, sp)))
		return (struct rooted_path){0, 0};
	h.area->instance_hits++;
	return (struct rooted_path){in->path, in->root};
}
