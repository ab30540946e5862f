/* The call path that leads to a probe, walked from frame to frame by the steps that Sonde has put
 * into the region. What a walk depends on goes into its instance (instance.h).
 *
 * On the thread's own stack a walk ends at an anchor: a frame with a running activation whose path
 * is known. Without anchors, only the innermost RT_WALK_FRAMES frames are kept. So recursion takes
 * the same time and memory at every depth.
 *
 * Below a signal handler the walk continues with the registers that the kernel saved, at the exact
 * instruction that was interrupted. If that instruction is part of a probe, the path ends there. */
#include "runtime/instance.h"

enum {
	WALK_REACH = 64 << 20, /* bytes above the stack pointer, on a stack with unknown bounds */
	SIGNALS_MAX = 16,      /* signal handlers on one path */
};

/* Mixed into the hash of a path that is cut off, so that it differs from one that ends there. */
#define CUT_OFF UINT64_C(0x637574206f6666)

struct path_walk {
	const struct hit *hit;
	struct instance *instance;
	struct draft draft;
	uint64_t pc, sp, fp, step;
	uint64_t floor, limit; /* bounds of the stack */
	uint64_t fp_slot;      /* address of fp, if the walk does not depend on it yet; 0: in the
				  register */
	uint64_t link_slot; /* address of the link register of a frame that a signal interrupted */
	uint32_t signals;
	bool fp_known; /* the walk depends on fp already */
	bool innermost;
	bool exact; /* about to execute pc: it is the innermost frame, or a signal interrupted it */
	bool anchors;  /* anchors are searched for */
	uint32_t live; /* the innermost activation that can still be an anchor */
};

enum progress { WALK_ON, WALK_DONE, WALK_STUCK, WALK_NO_ROOM };

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

static void depend_on(struct path_walk *w, uint64_t address, uint64_t value)
{
	struct instance *in = w->instance;
	if (in->count < RT_INSTANCE_WORDS)
		in->words[in->count] = (struct stack_word){address, value};
	in->count++;
}

static void depend_on_fp(struct path_walk *w)
{
	if (w->fp_known)
		return;
	w->fp_known = true;
	if (w->fp_slot)
		depend_on(w, w->fp_slot, w->fp);
	else
		w->instance->needs |= NEEDS_FP;
}

/* Reads a word of the stack; false if the address is not on it. */
static bool read_slot(const struct path_walk *w, uint64_t address, uint64_t *out)
{
	if (address < w->floor || address + 8 > w->limit || address % 8)
		return false;
	*out = word_at(address);
	return true;
}

static bool read_link(struct path_walk *w, uint64_t cfa, uint64_t *out)
{
	uint64_t slot = cfa - step_below_link(w->step);
	if (w->step & RT_STEP_IN_LINK && w->innermost) {
		w->instance->needs |= NEEDS_LINK;
		*out = w->instance->link;
		return true;
	}
	if (w->step & RT_STEP_IN_LINK) {
		if (!w->exact)
			return false;
		slot = w->link_slot;
		*out = word_at(slot);
		depend_on(w, slot, *out);
		return true;
	}
	if (!read_slot(w, slot, out))
		return false;
	depend_on(w, slot, *out);
	return true;
}

static bool read_fp(struct path_walk *w, uint64_t cfa)
{
	uint64_t below = step_below_fp(w->step);
	if (!below)
		return true;
	w->fp_slot = cfa - below;
	w->fp_known = false;
	return read_slot(w, w->fp_slot, &w->fp);
}

/* Whether the frame with this CFA has an activation whose path continues this one. At a function's
 * own entry it has none: an activation with the same CFA was left. The same holds for a function
 * that a signal interrupted, which may have been at its entry. */
static bool at_anchor(struct path_walk *w, uint64_t cfa)
{
	const struct hit *h = w->hit;
	if (!w->anchors || (w->exact && !(w->innermost && h->subject->flags & RT_LOOP)))
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

static enum progress end_at_anchor(struct path_walk *w, uint64_t cfa)
{
	struct rt_area *a = w->hit->area;
	w->draft.parent = area_activation(a, w->live)->path;
	w->draft.complete = area_path(a, w->draft.parent)->complete;
	w->instance->anchor = w->live;
	w->instance->root = cfa;
	return WALK_DONE;
}

static enum progress end_at_root(struct path_walk *w)
{
	w->draft.complete = true;
	w->instance->root = w->sp;
	return WALK_DONE;
}

static enum progress cut_off(struct path_walk *w)
{
	w->draft.hash = mix(w->draft.hash, CUT_OFF);
	w->instance->root = w->sp;
	return WALK_DONE;
}

/* On a stack other than the thread's own, the walk continues without adding frames: only the
 * outermost frame identifies the stack. */
static enum progress add_frame(struct path_walk *w)
{
	if (w->draft.count == RT_WALK_FRAMES)
		return w->hit->own ? cut_off(w) : WALK_ON;
	if (w->draft.count == w->draft.room)
		return WALK_NO_ROOM;
	w->draft.path->frames[w->draft.count++] = w->pc;
	w->draft.hash = mix(w->draft.hash, w->pc);
	return WALK_ON;
}

static bool is_ours(uint64_t pc)
{
	const struct rt_header *h = region_header();
	for (uint32_t i = 0; i < h->code_regions && i < RT_CODE_REGIONS; i++)
		if (pc - h->code[i].start < h->code[i].size)
			return true;
	return false;
}

static void set_stack(struct path_walk *w, uint64_t sp)
{
	bool own = area_owns(w->hit->area, sp + 1);
	w->sp = w->floor = sp;
	w->limit = own ? w->hit->area->stack_high : sp + WALK_REACH;
	w->anchors = w->anchors && own;
}

/* Continues with the frame that a signal interrupted. */
static enum progress walk_signal(struct path_walk *w)
{
	uint64_t at = w->sp, sp;
	if (++w->signals > SIGNALS_MAX || !read_slot(w, at + SIGNAL_SP, &sp) || sp % 8 ||
	    !read_slot(w, at + SIGNAL_PC, &w->pc))
		return WALK_STUCK;
	depend_on(w, at + SIGNAL_PC, w->pc);
	if (is_ours(w->pc))
		return cut_off(w);
	depend_on(w, at + SIGNAL_SP, sp);
	w->fp_slot = at + SIGNAL_FP;
	w->fp_known = false;
	w->fp = word_at(w->fp_slot);
	w->link_slot = at + SIGNAL_LINK;
	w->innermost = false;
	w->exact = true;
	set_stack(w, sp);
	w->step = find_step(w->pc | RT_STEP_EXACT);
	return add_frame(w);
}

static enum progress walk_frame(struct path_walk *w)
{
	uint64_t link, mask = region_header()->link_mask;
	if (w->step & RT_STEP_ROOT)
		return end_at_root(w);
	if ((w->step & RT_STEP_KIND_MASK) == RT_STEP_SIGNAL)
		return walk_signal(w);
	if ((w->step & RT_STEP_KIND_MASK) == RT_STEP_FP)
		depend_on_fp(w);
	uint64_t cfa = step_cfa(w->step, w->sp, w->fp);
	bool onwards = cfa > w->sp || (w->exact && cfa == w->sp);
	if (!onwards || cfa > w->limit || cfa % 8)
		return WALK_STUCK;
	if (at_anchor(w, cfa))
		return end_at_anchor(w, cfa);
	if (!read_link(w, cfa, &link) || !read_fp(w, cfa))
		return WALK_STUCK;
	w->sp = cfa;
	w->pc = mask ? link & mask : link;
	w->innermost = w->exact = false;
	if (!w->pc)
		return end_at_root(w);
	w->step = find_step(w->pc);
	return add_frame(w);
}

static bool start_walk(struct path_walk *w, const struct hit *h, struct instance *in)
{
	const struct probe_frame *f = h->frame;
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
	w->sp = w->floor = in->sp;
	w->fp = in->fp;
	w->step = h->probe->step;
	w->limit = h->own ? h->area->stack_high : in->sp + WALK_REACH;
	w->fp_slot = w->link_slot = 0;
	w->signals = 0;
	w->fp_known = false;
	w->innermost = w->exact = true;
	w->anchors = h->own;
	w->live = h->area->stacks[0].top;
	return draft_start(&w->draft, h->area);
}

static struct rooted_path walk(const struct hit *h, struct instance *in)
{
	struct path_walk *w = area_at(h->area, RT_AREA_WORK + WORK_WALK);
	enum progress progress = WALK_ON;
	struct rooted_path found = {0, 0};
	bool wanted = h->subject->flags & RT_PATH;
	h->area->walks++;
	if (!start_walk(w, h, in))
		return found;
	while (progress == WALK_ON)
		progress = walk_frame(w);
	found.root = w->sp;
	if (wanted && progress != WALK_NO_ROOM)
		found.path = progress == WALK_STUCK ? raw_path(h) : draft_finish(&w->draft, h);
	if (progress != WALK_DONE || in->count > RT_INSTANCE_WORDS || (wanted && !found.path))
		return found;
	in->path = found.path;
	keep_order();
	in->probe = (uint64_t)h->probe;
	return found;
}

COLD struct rooted_path walk_here(const struct hit *h)
{
	struct rooted_path found = remembered(*h);
	return found.root ? found : walk(h, instance_of(h->area, h->probe, frame_sp(h->frame)));
}
