/* Walks that are remembered.
 *
 * A walk depends on the registers at the probe and on certain words of the stack, nothing else. So
 * it is remembered under (probe, stack pointer) together with these words: if all of them are what
 * they were, the way from each frame to the next is the same, by induction from the innermost, and
 * so is the path. They are compared in the order in which the walk read them: a word is looked at
 * only when those before it say that it is there. */
#pragma once
#include "runtime/hit.h"

enum {
	NEEDS_FP = 1,   /* the walk depended on the frame pointer's value at the probe */
	NEEDS_LINK = 2, /* and on the link register's */
};

struct word {
	uint64_t address, value;
};

struct instance {
	uint64_t probe; /* 0: none */
	uint64_t sp, fp, link;
	uint64_t root, epoch;
	uint32_t path, anchor; /* anchor: number of an activation */
	uint32_t needs, count;
	struct word words[RT_INSTANCE_WORDS];
};
_Static_assert(sizeof(struct instance) == RT_INSTANCE_SIZE, "abi.h says otherwise");

/* A path (offset / 8), and what tells its stack from the thread's others: the CFA of its outermost
 * frame. */
struct way {
	uint32_t path; /* 0: no room, or the subject keeps no paths */
	uint64_t root;
};

/* walk.c: how we got here, remembered or not. */
struct way walk_here(const struct hit *h);

HOT uint64_t word_at(uint64_t address)
{
	return *(const volatile uint64_t *)address;
}

HOT struct instance *instance_of(struct rt_area *a, const struct rt_probe *p, uint64_t sp)
{
	uint64_t key = ((uint64_t)p >> 3) * 31 + (sp >> 4);
	return area_at(a, RT_AREA_INSTANCES + key % RT_INSTANCES * RT_INSTANCE_SIZE);
}

/* The anchor is the same activation still: it lives, and has the path that the remembered one has
 * for a parent. */
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
	for (const struct word *w = in->words, *end = w + count; w < end; w++)
		if (word_at(w->address) != w->value)
			return false;
	return !in->anchor || anchor_holds(h, in);
}

/* How we got here, if it is remembered; path 0 otherwise. */
HOT struct way remembered(struct hit h)
{
	uint64_t sp = frame_sp(h.frame);
	const struct instance *in = instance_of(h.area, h.probe, sp);
	if (unlikely(!holds(h, in, sp)))
		return (struct way){0, 0};
	h.area->instance_hits++;
	return (struct way){in->path, in->root};
}
