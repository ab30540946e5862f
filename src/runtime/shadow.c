/* The shadow stack: frames that were left, and frames of other stacks.
 *
 * On the thread's own stack (see area_owns()) the stack pointer shows which frames are void: those
 * of activations that began below it. They were left by longjmp, by an exception or by a handler
 * that never returned, and are dropped. The bounds of other stacks (of coroutines and signal
 * handlers) are unknown: a frame there that does not fit may be void, or may wait until control
 * returns to its stack. So it is set aside, and found again by the key of its call when control
 * returns. */
#include "runtime/count.h"

static struct rt_shadow *root_frame(const struct count_event *c)
{
	return count_at(c, RT_COUNT_ROOT);
}

struct rt_context *shadow_context(const struct rt_shadow *f)
{
	return (struct rt_context *)f->context;
}

/* Bytes of a frame; 0: it is damaged. */
static uint64_t frame_size(const struct count_event *c, const struct rt_shadow *f)
{
	if (!context_is_own(c, f->context))
		return 0;
	uint32_t size = counted(shadow_context(f)->function)->frame;
	return size < sizeof(*f) || size > RT_FRAME_MAX || size % 16 ? 0 : size;
}

/* Frames are checked before they are used, because the program may have overwritten them. */
struct rt_shadow *shadow_top(const struct count_event *c)
{
	uint64_t top = c->area->top, root = (uint64_t)root_frame(c);
	if (likely(top == root || (top < root && top >= region_base() + RT_COUNT_GAP &&
				   top % 16 == 0 && frame_size(c, (struct rt_shadow *)top))))
		return (struct rt_shadow *)top;
	c->count->dropped_frames++;
	c->area->top = root;
	return (struct rt_shadow *)root;
}

/* The next outer frame. */
static struct rt_shadow *outer_frame(const struct count_event *c, struct rt_shadow *f)
{
	uint64_t size = frame_size(c, f);
	struct rt_shadow *next = (struct rt_shadow *)((char *)f + size);
	if (likely(size && next <= root_frame(c)))
		return next;
	c->count->dropped_frames++;
	return root_frame(c);
}

void shadow_end_loops(const struct count_event *c, const struct rt_shadow *f, uint32_t until)
{
	struct rt_context *x = shadow_context(f);
	const struct rt_counted *p = counted(x->function);
	const struct rt_counted_loop *loops = region_at(RT_COUNTED_LOOPS);
	uint32_t at = site_loop(p, key_site(f->key));
	/* A nest is no deeper than the number of words in a frame. */
	for (uint32_t i = 0; at && at != until && at <= RT_LOOPS && i < RT_FRAME_MAX / 8; i++) {
		const struct rt_counted_loop *loop = &loops[at - 1];
		if (sizeof(*f) + (loop->slot + UINT64_C(1)) * 8 > p->frame ||
		    loop->word >= p->words)
			return;
		add(&x->words[loop->word], f->trips[loop->slot]);
		count_trips(c->area, at - 1, f->trips[loop->slot]);
		at = loop->outer;
	}
}

/* Whether the loop is `at` itself or around it. */
static bool is_around(uint32_t loop, uint32_t at)
{
	const struct rt_counted_loop *loops = region_at(RT_COUNTED_LOOPS);
	for (uint32_t i = 0; at && at <= RT_LOOPS && i < RT_FRAME_MAX / 8; i++) {
		if (at == loop)
			return true;
		at = loops[at - 1].outer;
	}
	return false;
}

/* Loops around both calls continue; those around the new call only start again. */
void shadow_resume(const struct count_event *c, struct rt_shadow *f, uint32_t site)
{
	const struct rt_counted *p = counted(shadow_context(f)->function);
	const struct rt_counted_loop *loops = region_at(RT_COUNTED_LOOPS);
	uint32_t from = site_loop(p, key_site(f->key)), to = site_loop(p, site);
	for (uint32_t i = 0; to && to <= RT_LOOPS && !is_around(to, from) && i < RT_FRAME_MAX / 8;
	     i++) {
		const struct rt_counted_loop *loop = &loops[to - 1];
		if (sizeof(*f) + (loop->slot + UINT64_C(1)) * 8 > p->frame)
			return;
		f->trips[loop->slot] = 0;
		to = loop->outer;
	}
	depart(c, f->context, key_site(f->key), DEPARTURE_LEFT);
	depart(c, f->context, site, DEPARTURE_RESUMED);
	shadow_end_loops(c, f, to);
}

static void leave_frame(const struct count_event *c, struct rt_shadow *f)
{
	if (!frame_size(c, f))
		return;
	shadow_end_loops(c, f, 0);
	depart(c, f->context, key_site(f->key), DEPARTURE_LEFT);
}

static void drop_top(const struct count_event *c)
{
	struct rt_shadow *f = shadow_top(c);
	leave_frame(c, f);
	c->area->top = (uint64_t)outer_frame(c, f);
}

static void fill_frame(struct rt_shadow *f, const struct rt_shadow *head, uint32_t size)
{
	*f = *head;
	for (uint32_t i = 0; i < (size - sizeof(*f)) / 8; i++)
		f->trips[i] = 0;
}

/* The frame is written twice. A signal handler that runs before the frame is on top may push its
 * own frames over it; one that runs afterwards has to find it complete. An activation that starts
 * in the middle of a loop has not entered it: its trips are counted from here. */
void shadow_push(const struct count_event *c, const struct rt_context *context, uint64_t key,
		 uint64_t entry_sp)
{
	uint32_t size = counted(context->function)->frame;
	struct rt_shadow head = {.context = (uint64_t)context, .key = key, .entry_sp = entry_sp};
	if (size < sizeof(head) || size > RT_FRAME_MAX)
		return;
	struct rt_shadow *f = (struct rt_shadow *)((char *)shadow_top(c) - size);
	fill_frame(f, &head, size);
	keep_order();
	c->area->top = (uint64_t)f;
	keep_order();
	fill_frame(f, &head, size);
}

/* ---- frames of other stacks ---- */

static bool is_own(const struct count_event *c, const struct rt_shadow *f)
{
	return area_owns(c->area, f->entry_sp & RT_ENTRY_UNKNOWN ? key_sp(f->key) : f->entry_sp);
}

static struct rt_aside *aside_at(const struct count_event *c, uint32_t i)
{
	return (struct rt_aside *)count_at(c, RT_COUNT_ASIDES) + i;
}

static struct rt_shadow *aside_frame(struct rt_aside *s, uint64_t at)
{
	return (struct rt_shadow *)(s->frames + at);
}

static void evict(const struct count_event *c, struct rt_aside *s)
{
	uint64_t size;
	for (uint64_t at = 0; at < s->bytes; at += size) {
		size = frame_size(c, aside_frame(s, at));
		leave_frame(c, aside_frame(s, at));
		c->count->dropped_asides++;
		if (!size)
			break;
	}
	s->bytes = 0;
}

static struct rt_aside *free_aside(const struct count_event *c, const struct rt_aside *but)
{
	struct rt_count *n = c->count;
	uint32_t i = 0;
	while (i < n->asides && i < RT_ASIDES && aside_at(c, i)->bytes)
		i++;
	if (i < RT_ASIDES) {
		n->asides = i < n->asides ? n->asides : i + 1;
		return aside_at(c, i);
	}
	do
		i = n->aside_evict++ % RT_ASIDES;
	while (aside_at(c, i) == but);
	evict(c, aside_at(c, i));
	return aside_at(c, i);
}

static void copy_words(void *to, const void *from, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes / 8; i++)
		((uint64_t *)to)[i] = ((const uint64_t *)from)[i];
}

/* Sets aside the frames from the top up to `end`. Frames that do not fit into a segment, the
 * outermost of them, are dropped. */
static void set_aside(const struct count_event *c, struct rt_shadow *end,
		      const struct rt_aside *but)
{
	struct rt_shadow *top = shadow_top(c), *f = top;
	if (top >= end)
		return;
	struct rt_aside *s = free_aside(c, but);
	for (struct rt_shadow *next = f;
	     next <= end && (uint64_t)((char *)next - (char *)top) <= sizeof(s->frames);) {
		f = next;
		if (f == end)
			break;
		next = outer_frame(c, f);
	}
	uint64_t bytes = (uint64_t)((char *)f - (char *)top);
	copy_words(s->frames, top, bytes);
	s->bytes = bytes;
	c->area->top = (uint64_t)f;
	while (shadow_top(c) < end) {
		c->count->dropped_asides++;
		drop_top(c);
	}
}

/* Sets aside the frames on top of this one, and returns it. */
static struct rt_shadow *uncover(const struct count_event *c, struct rt_shadow *f)
{
	set_aside(c, f, NULL);
	return shadow_top(c);
}

/* The first frame from `f` outwards that is on the thread's own stack, or the root's. */
static struct rt_shadow *first_own(const struct count_event *c, struct rt_shadow *f)
{
	while (f < root_frame(c) && !is_own(c, f))
		f = outer_frame(c, f);
	return f;
}

/* ---- the caller ---- */

/* Whether the frame's activation cannot have called the function that begins at c->sp, because its
 * stack pointer is at most `highest` in a call. If it is exactly that (the activation never moved
 * its stack pointer), its key must be of that very call. */
static bool cannot_call(const struct count_event *c, const struct rt_shadow *f)
{
	if (f->entry_sp & RT_ENTRY_UNKNOWN)
		return key_sp(f->key) - CALL_PUSHES < c->sp;
	uint64_t highest = f->entry_sp - CALL_PUSHES;
	return highest < c->sp || (highest == c->sp && f->entry_sp - key_sp(f->key) > RT_KEY_SLACK);
}

void shadow_strip(const struct count_event *c)
{
	struct rt_shadow *root = root_frame(c), *f;
	while ((f = shadow_top(c)) < root) {
		bool own = is_own(c, f);
		if (c->own && !own)
			uncover(c, first_own(c, f));
		else if (own != c->own || !cannot_call(c, f))
			return;
		else if (own)
			drop_top(c);
		else
			break;
	}
	/* On another stack: skip the frames on top that are not on the thread's own stack
	 * either. */
	while (f < root && !is_own(c, f) && cannot_call(c, f))
		f = outer_frame(c, f);
	uncover(c, f);
}

/* ---- the frame that control returns to ---- */

struct wanted_frame {
	uint32_t function;
	uint64_t key; /* 0: an exception arrived */
};

static bool is_exactly(const struct wanted_frame *w, const struct rt_shadow *f)
{
	return w->key && f->key == w->key && shadow_context(f)->function == w->function;
}

/* Whether the frame is of the activation that is at c->sp now: it is of this function, began
 * further out, and made its last call here or further in. */
static bool is_activation(const struct count_event *c, const struct wanted_frame *w,
			  const struct rt_shadow *f)
{
	if (is_exactly(w, f))
		return true;
	if (shadow_context(f)->function != w->function)
		return false;
	if (f->entry_sp & RT_ENTRY_UNKNOWN)
		return key_sp(f->key) == c->sp;
	return f->entry_sp > c->sp && key_sp(f->key) <= c->sp;
}

/* Whether an activation other than the wanted one was left. */
static bool was_left(const struct count_event *c, const struct rt_shadow *f)
{
	return f->entry_sp & RT_ENTRY_UNKNOWN ? key_sp(f->key) < c->sp : f->entry_sp <= c->sp;
}

static struct rt_shadow *find_own(const struct count_event *c, const struct wanted_frame *w)
{
	struct rt_shadow *f;
	while ((f = shadow_top(c)) < root_frame(c)) {
		if (!is_own(c, f))
			uncover(c, first_own(c, f));
		else if (is_activation(c, w, f))
			return f;
		else if (was_left(c, f))
			drop_top(c);
		else
			break;
	}
	return NULL;
}

/* The offset of the wanted frame in a segment; UINT64_MAX: it is not there. If not `deep`, only the
 * innermost frame is tried. */
static uint64_t find_in_aside(const struct count_event *c, const struct wanted_frame *w,
			      struct rt_aside *s, bool deep)
{
	uint64_t size;
	for (uint64_t at = 0; at < s->bytes; at += size) {
		size = frame_size(c, aside_frame(s, at));
		if (!size)
			break;
		if (is_exactly(w, aside_frame(s, at)))
			return at;
		if (!deep)
			break;
	}
	return UINT64_MAX;
}

/* Puts the frame and those outside of it back on top, in place of frames of other stacks. Frames
 * further in stay aside. */
static struct rt_shadow *bring_back(const struct count_event *c, struct rt_aside *s, uint64_t at)
{
	uint64_t bytes = s->bytes - at;
	set_aside(c, first_own(c, shadow_top(c)), s);
	char *to = (char *)shadow_top(c) - bytes;
	copy_words(to, s->frames + at, bytes);
	keep_order();
	c->area->top = (uint64_t)to;
	keep_order();
	copy_words(to, s->frames + at, bytes);
	s->bytes = at;
	return (struct rt_shadow *)to;
}

static struct rt_shadow *find_aside(const struct count_event *c, const struct wanted_frame *w)
{
	for (unsigned deep = 0; deep < 2; deep++)
		for (uint32_t i = 0; i < c->count->asides && i < RT_ASIDES; i++) {
			struct rt_aside *s = aside_at(c, i);
			uint64_t at = find_in_aside(c, w, s, deep);
			if (at != UINT64_MAX)
				return bring_back(c, s, at);
		}
	return NULL;
}

static struct rt_shadow *find_elsewhere(const struct count_event *c, const struct wanted_frame *w)
{
	struct rt_shadow *candidate = NULL;
	for (struct rt_shadow *f = shadow_top(c);
	     f < root_frame(c) && frame_size(c, f) && !is_own(c, f); f = outer_frame(c, f)) {
		if (is_exactly(w, f))
			return uncover(c, f);
		if (!candidate && is_activation(c, w, f))
			candidate = f;
	}
	struct rt_shadow *back = w->key ? find_aside(c, w) : NULL;
	return back ? back : candidate ? uncover(c, candidate) : NULL;
}

struct rt_shadow *shadow_find(const struct count_event *c, uint32_t function, uint64_t key)
{
	struct wanted_frame w = {function, key};
	return c->own ? find_own(c, &w) : find_elsewhere(c, &w);
}
