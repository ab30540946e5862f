#include "probe/stop/lists.h"

#include <string.h>

#include "probe/region/areas.h"
#include "probe/region/readings.h"

enum { FIRST_PATH = 64 }; /* as in runtime/path.c */

static struct rt_activation *activation(const struct lists *l, uint32_t number)
{
	struct rt_activation *all =
		(struct rt_activation *)((uint8_t *)l->area + RT_AREA_ACTIVATIONS);
	return &all[(number - 1) % RT_ACTIVATIONS];
}

static struct rt_path *path_of(const struct lists *l, uint32_t offset)
{
	return (struct rt_path *)((uint8_t *)l->area + RT_AREA_PATHS + (uint64_t)offset * 8);
}

bool lists_open(struct lists *l, struct target *t, int tid)
{
	*l = (struct lists){.target = t, .slot = areas_slot(t, tid), .area = areas_of(t, tid)};
	if (!l->area || l->area->busy)
		return false;
	readings_take(t, l->area, tid, OUTSIDE_METRICS, l->now);
	/* The runtime's clock may stop later (runtime/clock.c): then it must not show an earlier
	 * time than this one. */
	if (l->area->clock_page <= RT_CLOCK_UNAVAILABLE)
		l->area->clock_ns = l->now[RT_CPU];
	return true;
}

void lists_close(struct lists *l)
{
	for (uint32_t i = 0; i < RT_STACKS; i++)
		vec_free(&l->merges[i].inner);
	hashmap_release(&l->running);
}

/* ---- beginning ---- */

static bool is_listed(const struct lists *l, uint32_t subject)
{
	for (uint32_t i = 0; i < RT_STACKS; i++)
		for (uint32_t n = l->area->stacks[i].top; n; n = activation(l, n)->next)
			if (activation(l, n)->subject == subject)
				return true;
	return false;
}

static bool is_running(struct lists *l, uint32_t subject)
{
	uint32_t known = hashmap_get(&l->running, subject);
	if (known == HASHMAP_NONE)
		known = hashmap_add(&l->running, subject, is_listed(l, subject));
	return known;
}

static uint32_t take_activation(struct rt_area *a, const struct lists *l)
{
	uint32_t number = a->activation_free;
	if (number) {
		a->activation_free = activation(l, number)->next;
		return number;
	}
	return a->activation_used < RT_ACTIVATIONS ? ++a->activation_used : 0;
}

static uint64_t root_of(const struct walk *w)
{
	for (uint32_t i = w->frames.len; i-- > 0;)
		if (w->frames.data[i].cfa)
			return w->frames.data[i].cfa;
	return 0;
}

static struct rt_stack *stack_of(struct rt_area *a, uint64_t cfa, uint64_t root)
{
	struct rt_stack *spare = NULL;
	if (cfa > a->stack_low && cfa <= a->stack_high)
		return &a->stacks[0];
	for (uint32_t i = 1; i < RT_STACKS; i++) {
		if (a->stacks[i].top && a->stacks[i].root == root)
			return &a->stacks[i];
		if (!a->stacks[i].top && !spare)
			spare = &a->stacks[i];
	}
	if (spare)
		spare->root = root;
	return spare;
}

/* Whether activation `a` is further in than one of loop depth `depth` in the frame with this
 * CFA. */
static bool is_inner(const struct lists *l, const struct rt_activation *a, uint64_t cfa,
		     uint32_t depth)
{
	return a->cfa < cfa ||
	       (a->cfa == cfa && l->target->code->subjects.data[a->subject].depth > depth);
}

static struct merge *merge_on(struct lists *l, const struct rt_stack *s)
{
	struct merge *m = &l->merges[s - l->area->stacks];
	for (uint32_t n = m->begun ? 0 : s->top; n; n = activation(l, n)->next)
		vec_push(&m->inner, n);
	m->begun = true;
	return m;
}

static void insert(const struct lists *l, struct merge *m, struct rt_stack *s, uint32_t number,
		   uint32_t depth)
{
	struct rt_activation *a = activation(l, number);
	while (m->inner.len && !is_inner(l, activation(l, vec_last(&m->inner)), a->cfa, depth))
		m->outer = vec_pop(&m->inner);
	a->next = m->outer;
	if (m->inner.len)
		activation(l, vec_last(&m->inner))->next = number;
	else
		s->top = number;
	m->outer = number;
}

/* As fold_recursion() does in runtime/path.c. */
static uint32_t fold_recursion(const struct lists *l, const struct rt_path *like,
			       const uint64_t *frames)
{
	uint32_t offset = like->parent;
	if (!offset || path_of(l, offset)->depth < RT_WALK_FRAMES)
		return 0;
	for (uint32_t i = 0; offset && i < RT_FOLD_PARENTS; i++) {
		const struct rt_path *p = path_of(l, offset);
		if (p->subject == like->subject && p->frame_count == like->frame_count &&
		    !memcmp(p->frames, frames, p->frame_count * sizeof(*frames)))
			return offset;
		offset = p->parent;
	}
	return 0;
}

/* Returns a path that this thread got at an earlier adoption, or one that recursion folds into; 0:
 * none. */
static uint32_t find_path(const struct lists *l, uint64_t hash, const struct rt_path *like,
			  const uint64_t *frames)
{
	uint32_t offset = hashmap_get(&l->slot->adopted_paths, hash);
	if (offset == HASHMAP_NONE)
		return fold_recursion(l, like, frames);
	const struct rt_path *p = path_of(l, offset);
	bool same = p->subject == like->subject && p->parent == like->parent &&
		    p->recursive == like->recursive && p->frame_count == like->frame_count &&
		    !memcmp(p->frames, frames, like->frame_count * sizeof(*frames));
	return same ? offset : 0;
}

/* Adds a path, but not to the runtime's index: the runtime may make the same path again. Readers
 * add up paths with the same frames. */
static uint32_t add_path(const struct lists *l, const struct rt_path *p, const uint64_t *frames)
{
	struct rt_area *a = l->area;
	uint64_t start = a->path_used > FIRST_PATH ? a->path_used : FIRST_PATH;
	uint64_t end = start + sizeof(*p) + p->frame_count * UINT64_C(8);
	if (end > RT_PATH_BYTES)
		return 0;
	struct rt_path *out = path_of(l, (uint32_t)(start / 8));
	*out = *p;
	memcpy(out->frames, frames, p->frame_count * sizeof(*frames));
	a->path_used = end;
	__atomic_store_n(&a->first_path, (uint32_t)(start / 8), __ATOMIC_RELEASE);
	return (uint32_t)(start / 8);
}

/* Lists the return addresses of the frames from `first` on, up to the anchor's frame. */
static uint32_t frames_between(const struct lists *l, const struct walk *w, uint32_t first,
			       uint64_t frames[RT_WALK_FRAMES])
{
	uint64_t mask = l->target->shared->arch->layout->code_mask;
	uint32_t end = l->anchor_path ? l->anchor_frame + 1 : w->frames.len, count = 0;
	for (uint32_t i = first; i < end && count < RT_WALK_FRAMES; i++)
		frames[count++] = w->frames.data[i].pc & mask;
	return count;
}

static uint32_t path_to(struct lists *l, uint32_t subject, const struct walk *w, uint32_t frame)
{
	uint64_t frames[RT_WALK_FRAMES], hash;
	struct rt_path p = {.next = l->area->first_path,
			    .subject = subject,
			    .recursive = is_running(l, subject)};
	if (l->target->code->subjects.data[subject].request.path) {
		p.parent = l->anchor_path;
		p.frame_count = frames_between(l, w, frame + 1, frames);
		p.complete = w->end == WALK_COMPLETE &&
			     (p.parent || p.frame_count == w->frames.len - frame - 1);
	}
	p.depth = p.frame_count + (p.parent ? path_of(l, p.parent)->depth : 0);
	hash = hash_bytes(&p.subject, 3 * sizeof(uint32_t), p.recursive);
	hash = hash_bytes(frames, p.frame_count * sizeof(*frames), hash);
	uint32_t offset = find_path(l, hash, &p, frames);
	if (!offset) {
		offset = add_path(l, &p, frames);
		if (offset)
			hashmap_put(&l->slot->adopted_paths, hash, offset);
	}
	return offset;
}

bool lists_begin(struct lists *l, uint32_t subject, const struct walk *w, uint32_t frame)
{
	struct rt_area *a = l->area;
	uint64_t cfa = w->frames.data[frame].cfa;
	struct rt_stack *s = cfa ? stack_of(a, cfa, root_of(w)) : NULL;
	if (!s)
		return false;
	struct merge *m = merge_on(l, s);
	if (l->anchor_on != m)
		l->anchor_path = 0;
	uint32_t path = path_to(l, subject, w, frame);
	uint32_t number = path ? take_activation(a, l) : 0;
	if (!number)
		return false;
	struct rt_activation *act = activation(l, number);
	const struct subject *sub = &l->target->code->subjects.data[subject];
	act->cfa = cfa;
	act->subject = subject;
	act->path = path;
	act->metrics = sub->request.metrics & OUTSIDE_METRICS;
	act->below_set = 0;
	memcpy(act->start, l->now, sizeof(act->start));
	act->quick = 0;
	insert(l, m, s, number, sub->depth);
	path_of(l, path)->live++;
	path_of(l, path)->adopted++;
	hashmap_put(&l->running, subject, 1);
	if (sub->request.path) {
		l->anchor_on = m;
		l->anchor_path = path;
		l->anchor_frame = frame;
	}
	return true;
}

/* ---- ending ---- */

static void add_to_path(const struct lists *l, const struct rt_activation *a,
			struct rt_activation *outer)
{
	struct rt_path *p = path_of(l, a->path);
	for (unsigned m = 0; m < RT_EVENT; m++) {
		if (!(a->metrics >> m & 1) || l->now[m] < a->start[m])
			continue;
		uint64_t total = l->now[m] - a->start[m];
		uint64_t below = a->below_set >> m & 1 ? a->below[m] : 0;
		p->total[m] += total;
		p->self[m] += total > below ? total - below : 0;
		if (outer) {
			outer->below[m] = total + (outer->below_set >> m & 1 ? outer->below[m] : 0);
			outer->below_set |= 1u << m;
		}
	}
}

static void end_on(const struct lists *l, struct rt_stack *s)
{
	uint32_t *link = &s->top;
	while (*link) {
		uint32_t number = *link;
		struct rt_activation *a = activation(l, number);
		if (l->target->code->subjects.data[a->subject].in) {
			link = &a->next;
			continue;
		}
		add_to_path(l, a, a->next ? activation(l, a->next) : NULL);
		*link = a->next;
		if (path_of(l, a->path)->live)
			path_of(l, a->path)->live--;
		a->cfa = 0;
		a->next = l->area->activation_free;
		l->area->activation_free = number;
	}
}

void lists_end(struct lists *l)
{
	for (uint32_t i = 0; i < RT_STACKS; i++)
		end_on(l, &l->area->stacks[i]);
}
