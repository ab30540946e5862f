/* The activations and paths of one thread, which the runtime keeps in the thread's area
 * (runtime/activation.c, runtime/path.c). They may be changed here only while the thread is stopped
 * outside of the runtime. */
#pragma once
#include "probe/code/codespace.h"

/* Merges new activations, outermost first, into a list that leads from the innermost one outwards,
 * in linear time. */
struct merge {
	VEC(uint32_t) inner; /* the rest of the old list: the activations further in */
	uint32_t outer;      /* the last activation that is further out, or 0 */
	bool begun;
};

/* One thread's lists. */
struct lists {
	struct target *target;
	struct thread_slot *slot;
	struct rt_area *area;
	uint64_t now[RT_METRICS];
	struct merge merges[RT_STACKS];
	struct hashmap running; /* subject -> 1 if it is active further out, else 0 */
	/* The last activation with a path that was begun here, and its frame: the paths of
	 * activations further in lead to it. */
	const struct merge *anchor_on;
	uint32_t anchor_path, anchor_frame;
};

/* False if the lists must not be touched: the thread has none, or is inside the runtime. Otherwise
 * call lists_close() afterwards. */
bool lists_open(struct lists *l, struct target *t, int tid);
void lists_close(struct lists *l);
/* Begins an activation that is running in this frame of the thread's stack. Outer activations must
 * be begun before inner ones. False if there is no room. */
bool lists_begin(struct lists *l, uint32_t subject, const struct walk *w, uint32_t frame);
/* Ends the activations of subjects that are not in the program any more. */
void lists_end(struct lists *l);
