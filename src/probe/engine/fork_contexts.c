/* The child of a fork continues with the contexts and the frames of the thread that forked; all its
 * counts start at zero.
 *
 * The frames must be those that the thread had when it forked, because they change. They are copied
 * when the thread reports its fork, before it runs on; if the child is reported first, the thread
 * is still where it forked. Contexts are only ever added, so later ones do no harm. */
#include "probe/engine/fork_contexts.h"

#include <stdlib.h>
#include <string.h>

#include "probe/region/areas.h"
#include "probe/region/contexts.h"
#include "probe/region/region_file.h"

/* A thread's frames when it forked. */
struct fork_frames {
	int child;
	uint32_t slot;
	uint64_t busy;
	struct frames frames;
};

void fork_frames_free(struct fork_frames *f)
{
	if (f)
		frames_release(&f->frames);
	free(f);
}

static struct fork_frames *copy_fork_frames(const struct target *t, uint32_t slot, int child)
{
	struct rt_count state;
	struct fork_frames f = {.child = child, .slot = slot};
	if (slot == RT_AREAS || !target_area(t, slot)->count ||
	    !region_read(t, RT_COUNT_AREA(slot) + RT_COUNT_STATE, &state, sizeof(state)) ||
	    state.asides > RT_ASIDES || !frames_copy(t, slot, state.asides, &f.frames))
		return NULL;
	f.busy = state.busy;
	struct fork_frames *taken = xmalloc(sizeof(f));
	*taken = f;
	return taken;
}

void contexts_forked(struct target *t, int tid, int child)
{
	struct fork_frames *f = copy_fork_frames(t, areas_number(t, tid), child);
	if (f)
		vec_push(&t->lineage->forks, f);
}

static uint32_t slot_of_pointer(const struct target *t, uint64_t thread_pointer)
{
	uint32_t i = 0;
	while (i < RT_AREAS &&
	       (!t->slots[i].tid || target_area(t, i)->thread_pointer != thread_pointer))
		i++;
	return i;
}

/* Returns the frames that were copied at the fork. If none were, the thread is still where it
 * forked, and its frames are copied now. */
static struct fork_frames *take_fork_frames(struct target *parent, struct control_thread *child)
{
	uint64_t thread_pointer = 0;
	for (uint32_t i = 0; i < parent->lineage->forks.len; i++) {
		struct fork_frames *f = parent->lineage->forks.data[i];
		if (f->child != child->tracee.tid)
			continue;
		parent->lineage->forks.data[i] = vec_last(&parent->lineage->forks);
		parent->lineage->forks.len--;
		return f;
	}
	control_thread_pointer(child, &thread_pointer);
	return copy_fork_frames(parent, slot_of_pointer(parent, thread_pointer), child->tracee.tid);
}

static void zero_record(struct rt_record *r)
{
	struct rt_context_slot *slot = (struct rt_context_slot *)(r + 1);
	struct rt_context *x = (struct rt_context *)((uint8_t *)r + r->context);
	if (!r->context) {
		((struct rt_edge *)r)->calls = 0;
		return;
	}
	for (; (void *)slot < (void *)x; slot++)
		slot->calls = 0;
	x->calls = 0;
	memset(x->words, 0, r->size - r->context - sizeof(*x));
}

/* Resets the trip counts of all frames. Returns false if frames are damaged. */
static bool zero_trips(const struct context_heap *h, uint8_t *from, uint64_t size)
{
	struct shadow_walk w = {.heap = h, .at = from, .end = from + size};
	while (shadow_next(&w))
		memset(w.frame->trips, 0, w.size - sizeof(*w.frame));
	return w.complete;
}

/* Notes the activations that the child returns to as adopted: they did not begin in the child. */
static void adopt_frames(struct target *child, uint32_t slot, const struct context_heap *h,
			 uint8_t *from, uint64_t size)
{
	struct shadow_walk w = {.heap = h, .at = from, .end = from + size};
	while (shadow_next(&w))
		contexts_note_adopted(&child->slots[slot], w.frame->context,
				      (uint32_t)(w.frame->key >> RT_KEY_SITE), 0);
}

/* Writes all frames that are not damaged. */
static void put_frames(struct target *child, const struct context_heap *h, struct fork_frames *f)
{
	uint64_t area = RT_COUNT_AREA(f->slot), root = area + RT_COUNT_ROOT;
	struct rt_aside *asides = f->frames.asides;
	bool good = zero_trips(h, f->frames.shadow, f->frames.size);
	if (good)
		good = region_write(child, f->frames.top, f->frames.shadow, f->frames.size);
	if (good) {
		adopt_frames(child, f->slot, h, f->frames.shadow, f->frames.size);
	}
	target_area(child, f->slot)->top = child->region.base + (good ? f->frames.top : root);
	for (uint32_t i = 0; i < f->frames.aside_count; i++) {
		if (asides[i].bytes > sizeof(asides[i].frames) ||
		    !zero_trips(h, asides[i].frames, asides[i].bytes))
			asides[i].bytes = 0;
		adopt_frames(child, f->slot, h, asides[i].frames, asides[i].bytes);
	}
	if (!region_write(child, area + RT_COUNT_ASIDES, asides,
			  f->frames.aside_count * sizeof(*asides)))
		contexts_give_up(child, f->slot);
}

/* Writes the contexts; the runtime will make their index. False if there is no memory. */
static bool put_contexts(struct target *child, struct context_heap *h, const struct fork_frames *f)
{
	struct rt_record *r;
	uint64_t used = h->state.contexts_used, area = RT_COUNT_AREA(f->slot);
	struct rt_count state = {.busy = f->busy,
				 .contexts_used = used,
				 .contexts_granted = (used + RT_CONTEXT_CHUNK - 1) /
						     RT_CONTEXT_CHUNK * RT_CONTEXT_CHUNK,
				 .asides = f->frames.aside_count};
	for (uint64_t at = 0; (r = contexts_record(h, &at)); state.index_used++)
		zero_record(r);
	target_header(child)->context_bytes += state.contexts_granted;
	return region_write(child, area + RT_COUNT_CONTEXTS, h->bytes, used) &&
	       region_write(child, area + RT_COUNT_STATE, &state, sizeof(state));
}

static void inherit_contexts(struct target *child, const struct target *parent,
			     struct fork_frames *f, int tid)
{
	struct context_heap h;
	if (!contexts_open(parent, f->slot, &h) || !contexts_copy_all(&h)) {
		free(h.bytes);
		return;
	}
	child->slots[f->slot].tid = tid;
	contexts_prepare(child, f->slot); /* makes the root's frame */
	target_header(child)->context_bytes = 0;
	if (!target_area(child, f->slot)->count || !put_contexts(child, &h, f))
		contexts_give_up(child, f->slot);
	else
		put_frames(child, &h, f);
	free(h.bytes);
}

void contexts_inherit(struct target *child, struct target *parent, struct control_thread *th)
{
	target_header(child)->context_bytes = 0;
	if (!parent->counting.on)
		return;
	contexts_begin(child);
	struct fork_frames *f = take_fork_frames(parent, th);
	if (f)
		inherit_contexts(child, parent, f, th->tracee.tid);
	fork_frames_free(f);
}
