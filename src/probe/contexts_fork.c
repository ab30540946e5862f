/* The child of a fork goes on with the contexts of the thread that forked, and its frames; all
 * counts begin at zero.
 *
 * Frames come and go: they are those that the thread had when it forked, which it tells before it
 * runs on, unless its child tells first. Contexts only ever come: later ones do no harm. */
#include <string.h>

#include "probe/target.h"

/* A thread's frames as it forked. */
struct fork_frames {
	int child;
	uint32_t slot;
	struct rt_count state;
	uint64_t top; /* offset in the region */
	VEC(uint8_t) shadow, asides;
};

void fork_frames_free(struct fork_frames *f)
{
	if (!f)
		return;
	vec_free(&f->shadow);
	vec_free(&f->asides);
	free(f);
}

static struct fork_frames *take_frames(const struct target *t, uint32_t slot, int child)
{
	uint64_t top, root, asides = RT_COUNT_AREA(slot) + RT_COUNT_ASIDES;
	if (!t->counting || slot == RT_AREAS || !target_area(t, slot)->count ||
	    !contexts_shadow(t, slot, &top, &root))
		return NULL;
	struct fork_frames *f = xcalloc(1, sizeof(*f));
	f->child = child;
	f->slot = slot;
	f->state = *contexts_state(t, slot);
	f->top = top;
	f->shadow.len = (uint32_t)(root + sizeof(struct rt_shadow) - top);
	f->asides.len = f->state.asides * (uint32_t)sizeof(struct rt_aside);
	vec_reserve(&f->shadow, f->shadow.len);
	vec_reserve(&f->asides, f->asides.len);
	memcpy(f->shadow.data, target_at(t, top), f->shadow.len);
	if (f->asides.len)
		memcpy(f->asides.data, target_at(t, asides), f->asides.len);
	return f;
}

void contexts_forked(struct target *t, int tid, int child)
{
	uint32_t slot = areas_number(t, tid);
	struct fork_frames *f = take_frames(t, slot, child);
	if (f)
		vec_push(&t->forks, f);
}

static uint32_t slot_of_pointer(const struct target *t, uint64_t thread_pointer)
{
	uint32_t i = 0;
	while (i < RT_AREAS &&
	       (!t->slots[i].tid || target_area(t, i)->thread_pointer != thread_pointer))
		i++;
	return i;
}

/* What was told, or if nothing was, the thread is still where it forked. */
static struct fork_frames *frames_of(struct target *parent, int child, uint64_t thread_pointer)
{
	for (uint32_t i = 0; i < parent->forks.len; i++) {
		struct fork_frames *f = parent->forks.data[i];
		if (f->child != child)
			continue;
		parent->forks.data[i] = vec_last(&parent->forks);
		parent->forks.len--;
		return f;
	}
	return take_frames(parent, slot_of_pointer(parent, thread_pointer), child);
}

static void zero_record(struct rt_record *r)
{
	struct rt_context_slot *slot = (struct rt_context_slot *)(r + 1);
	struct rt_context *x = (struct rt_context *)((uint8_t *)r + r->context);
	r->calls = 0;
	if (!r->context)
		return;
	for (; (void *)slot < (void *)x; slot++)
		slot->calls = 0;
	memset(x->words, 0, r->size - r->context - sizeof(*x));
}

/* The runtime makes its index anew. */
static void copy_contexts(struct target *child, const struct target *parent, uint32_t slot)
{
	uint64_t heap = RT_COUNT_AREA(slot) + RT_COUNT_CONTEXTS;
	struct rt_count *n = contexts_state(child, slot);
	const struct rt_count *from = contexts_state(parent, slot);
	n->contexts_used = __atomic_load_n(&from->contexts_used, __ATOMIC_ACQUIRE);
	n->contexts_granted =
		(n->contexts_used + RT_CONTEXT_CHUNK - 1) / RT_CONTEXT_CHUNK * RT_CONTEXT_CHUNK;
	target_header(child)->context_bytes += n->contexts_granted;
	memcpy(target_at(child, heap), target_at(parent, heap), n->contexts_used);
	struct rt_record *r;
	for (uint64_t at = 0; (r = contexts_record(child, slot, &at, n->contexts_used));) {
		zero_record(r);
		n->index_used++;
	}
}

/* False if frames are damaged. */
static bool zero_trips(const struct target *t, uint32_t slot, uint8_t *from, uint8_t *end)
{
	struct shadow_walk w;
	shadow_walk_init(&w, t, slot, from, end);
	while (shadow_walk_next(&w))
		memset(w.frame->trips, 0, w.size - sizeof(*w.frame));
	return w.complete;
}

static void copy_frames(struct target *child, const struct fork_frames *f)
{
	uint64_t root = RT_COUNT_AREA(f->slot) + RT_COUNT_ROOT;
	struct rt_aside *asides = target_at(child, RT_COUNT_AREA(f->slot) + RT_COUNT_ASIDES);
	struct rt_count *n = contexts_state(child, f->slot);
	memcpy(target_at(child, f->top), f->shadow.data, f->shadow.len);
	bool good = zero_trips(child, f->slot, target_at(child, f->top), target_at(child, root));
	target_area(child, f->slot)->top = child->base + (good ? f->top : root);
	if (f->asides.len)
		memcpy(asides, f->asides.data, f->asides.len);
	n->asides = f->state.asides;
	n->busy = f->state.busy;
	for (uint32_t i = 0; i < n->asides; i++) {
		uint8_t *frames = asides[i].frames;
		if (asides[i].bytes > sizeof(asides[i].frames) ||
		    !zero_trips(child, f->slot, frames, frames + asides[i].bytes))
			asides[i].bytes = 0;
	}
}

void contexts_inherit(struct target *child, struct target *parent, struct control_thread *th)
{
	uint64_t thread_pointer = 0;
	target_header(child)->context_bytes = 0;
	if (!parent->counting)
		return;
	control_thread_pointer(th, &thread_pointer);
	struct fork_frames *f = frames_of(parent, th->tracee.tid, thread_pointer);
	if (f) {
		copy_contexts(child, parent, f->slot);
		copy_frames(child, f);
		child->slots[f->slot].tid = th->tracee.tid;
	}
	contexts_begin(child);
	fork_frames_free(f);
}
