/* The call path that leads to a probe, from frame to frame by the steps that Sonde has put into the
 * region. What a walk depends on goes into its instance (instance.h).
 *
 * On the thread's own stack a walk ends at an anchor: a frame that is a live activation, whose path
 * is known. */
#include "runtime/instance.h"

enum { WALK_REACH = 64 << 20 };

struct walk {
	const struct hit *hit;
	struct instance *instance;
	struct draft draft;
	uint64_t pc, sp, fp, step;
	uint64_t limit;   /* of the stack */
	uint64_t fp_slot; /* where fp was read, if the walk does not depend on it yet */
	bool fp_known;    /* the walk depends on it already */
	bool innermost;
	uint32_t live; /* the innermost activation that is not left behind */
};

enum progress { WALK_ON, WALK_DONE, WALK_STUCK };

static uint64_t find_step(uint64_t pc)
{
	const struct rt_step *table = region_at(RT_STEP_TABLE);
	uint32_t home = rt_step_home(pc);
	for (uint32_t i = 0; i < RT_STEP_CHAIN; i++) {
		const struct rt_step *s = &table[(home + i) % RT_STEPS];
		uint64_t key = __atomic_load_n(&s->pc, __ATOMIC_ACQUIRE);
		if (key == pc)
			return __atomic_load_n(&s->step, __ATOMIC_RELAXED);
		if (!key)
			break;
	}
	return RT_STEP_NONE;
}

static void depend_on(struct walk *w, uint64_t address, uint64_t value)
{
	struct instance *in = w->instance;
	if (in->count < RT_INSTANCE_WORDS)
		in->words[in->count] = (struct word){address, value};
	in->count++;
}

static void depend_on_fp(struct walk *w)
{
	if (w->fp_known)
		return;
	w->fp_known = true;
	if (w->fp_slot)
		depend_on(w, w->fp_slot, w->fp);
	else
		w->instance->needs |= NEEDS_FP;
}

/* Reads a word of the stack; false if it cannot be one. */
static bool read_slot(const struct walk *w, uint64_t address, uint64_t *out)
{
	if (address < frame_sp(w->hit->frame) || address + 8 > w->limit || address % 8)
		return false;
	*out = word_at(address);
	return true;
}

static bool read_link(struct walk *w, uint64_t cfa, uint64_t *out)
{
	uint64_t slot = cfa - step_below_link(w->step);
	if (w->step & RT_STEP_IN_LINK) {
		w->instance->needs |= NEEDS_LINK;
		*out = w->instance->link;
		return w->innermost;
	}
	if (!read_slot(w, slot, out))
		return false;
	depend_on(w, slot, *out);
	return true;
}

static bool read_fp(struct walk *w, uint64_t cfa)
{
	uint64_t below = step_below_fp(w->step);
	if (!below)
		return true;
	w->fp_slot = cfa - below;
	w->fp_known = false;
	return read_slot(w, w->fp_slot, &w->fp);
}

/* Whether the frame with this CFA is an activation whose path leads on. A procedure's own entry is
 * none: what has the same CFA then was left behind. */
static bool at_anchor(struct walk *w, uint64_t cfa)
{
	const struct hit *h = w->hit;
	if (!h->own || (w->innermost && !(h->subject->flags & RT_LOOP)))
		return false;
	for (uint32_t i = 0; w->live && i < RT_ACTIVATIONS; i++) {
		const struct rt_activation *a = area_activation(h->area, w->live);
		const struct rt_subject *s = region_subject(a->subject);
		uint64_t pc = w->innermost ? w->pc : w->pc - 1;
		if (a->cfa > cfa)
			return false;
		if (a->cfa == cfa && s->flags & RT_PATH && s->active && pc >= s->start &&
		    pc < s->end)
			return true;
		w->live = a->next;
	}
	return false;
}

static enum progress end_at_anchor(struct walk *w, uint64_t cfa)
{
	struct rt_area *a = w->hit->area;
	w->draft.parent = area_activation(a, w->live)->path;
	w->draft.complete = area_path(a, w->draft.parent)->complete;
	w->instance->anchor = w->live;
	w->instance->root = cfa;
	return WALK_DONE;
}

static enum progress end_at_root(struct walk *w)
{
	w->draft.complete = true;
	w->instance->root = w->sp;
	return WALK_DONE;
}

static enum progress walk_frame(struct walk *w)
{
	uint64_t link, mask = region_header()->link_mask;
	if (w->step & RT_STEP_ROOT)
		return end_at_root(w);
	if ((w->step & 15) == RT_STEP_FP)
		depend_on_fp(w);
	uint64_t cfa = step_cfa(w->step, w->sp, w->fp);
	bool onwards = cfa > w->sp || (w->innermost && cfa == w->sp);
	if (!onwards || cfa > w->limit || cfa % 8)
		return WALK_STUCK;
	if (at_anchor(w, cfa))
		return end_at_anchor(w, cfa);
	if (!read_link(w, cfa, &link) || !read_fp(w, cfa))
		return WALK_STUCK;
	w->sp = cfa;
	w->pc = mask ? link & mask : link;
	w->innermost = false;
	if (!w->pc)
		return end_at_root(w);
	if (w->draft.count == w->draft.room)
		return WALK_STUCK;
	w->draft.path->frames[w->draft.count++] = w->pc;
	w->draft.hash = mix(w->draft.hash, w->pc);
	w->step = find_step(w->pc);
	return WALK_ON;
}

static bool start(struct walk *w, const struct hit *h, struct instance *in)
{
	const struct frame *f = h->frame;
	in->probe = 0;
	keep_order();
	in->sp = frame_sp(f);
	in->fp = frame_fp(f);
	in->link = frame_link(f);
	in->epoch = region_header()->epoch;
	in->anchor = in->needs = in->count = 0;
	w->hit = h;
	w->instance = in;
	w->pc = h->probe->pc;
	w->sp = in->sp;
	w->fp = in->fp;
	w->step = h->probe->step;
	w->limit = h->own ? h->area->stack_high : in->sp + WALK_REACH;
	w->fp_slot = 0;
	w->fp_known = false;
	w->innermost = true;
	w->live = h->area->stacks[0].top;
	return draft_start(&w->draft, h->area);
}

static struct way walk(const struct hit *h, struct instance *in)
{
	struct walk *w = area_at(h->area, RT_AREA_WORK + WORK_WALK);
	enum progress progress = WALK_ON;
	struct way way = {0, 0};
	bool wanted = h->subject->flags & RT_PATH;
	h->area->walks++;
	if (!start(w, h, in))
		return way;
	while (progress == WALK_ON)
		progress = walk_frame(w);
	way.root = w->sp;
	if (wanted)
		way.path = progress == WALK_STUCK ? raw_path(h) : draft_finish(&w->draft, h);
	if (progress == WALK_STUCK || in->count > RT_INSTANCE_WORDS || (wanted && !way.path))
		return way;
	in->path = way.path;
	keep_order();
	in->probe = (uint64_t)h->probe;
	return way;
}

COLD struct way walk_here(const struct hit *h)
{
	struct way way = remembered(*h);
	return way.root ? way : walk(h, instance_of(h->area, h->probe, frame_sp(h->frame)));
}
