/* Recipes as the runtime reads them: how to get from a return address to the caller's frame. */
#include "probe/region/steps.h"

#include "unwind/root.h"

enum { EXACT_STEPS_MAX = RT_STEPS / 4 }; /* see learn_frame() */

/* Index of the frame pointer among the registers that a recipe has slots for. */
static unsigned frame_pointer_slot(const struct arch *arch)
{
	uint8_t saved[CALLEE_SAVED_MAX];
	unsigned count = callee_saved_list(arch, saved);
	for (unsigned i = 0; i < count; i++)
		if (saved[i] == arch->fp)
			return i;
	return CALLEE_SAVED_MAX;
}

/* Converts an offset from the CFA to a distance below it in words. False if it does not fit. */
static bool pack_below(int32_t offset, uint64_t *out)
{
	if (offset > 0 || offset % 8 || offset < -8 * RT_STEP_BELOW_MAX)
		return false;
	*out = (uint64_t)(-offset / 8);
	return true;
}

static uint64_t pack_step(const struct arch *arch, const struct recipe *r)
{
	uint64_t step = 0, below;
	if (r->switches)
		return RT_STEP_NONE;
	if (r->ret == RETURN_NONE)
		return RT_STEP_ROOT;
	if (r->cfa != CFA_REGISTER || (r->cfa_reg != arch->sp && r->cfa_reg != arch->fp) ||
	    r->cfa_offset % 8 || r->cfa_offset < -(1 << 25) || r->cfa_offset >= 1 << 25)
		return RT_STEP_NONE;
	step = r->cfa_reg == arch->sp ? RT_STEP_SP : RT_STEP_FP;
	step |= ((uint64_t)(r->cfa_offset / 8) & 0xffffff) << RT_STEP_CFA_BIT;
	if (r->ret == RETURN_REGISTER && r->ret_reg == arch->link)
		step |= RT_STEP_IN_LINK;
	else if (r->ret == RETURN_SAVED && pack_below(r->ret_offset, &below))
		step |= below << RT_STEP_LINK_BIT;
	else
		return RT_STEP_NONE;
	int32_t slot = r->slot[frame_pointer_slot(arch)];
	if (slot == SLOT_SAME)
		return step;
	if (r->slot_reg != REG_NONE || slot == SLOT_LOST || !slot || !pack_below(slot, &below))
		return RT_STEP_NONE;
	return step | below << RT_STEP_FP_BIT;
}

uint64_t step_at(struct target *t, struct code *code, uint64_t va)
{
	return pack_step(t->shared->arch, recipes_at(code->recipes, va));
}

/* Like the walk that found the call, this does not analyse it if it is described. */
static uint64_t step_of_call(struct target *t, struct code *code, uint64_t va)
{
	struct recipe described;
	if (!recipes_describe(code->recipes, va, &described))
		return step_at(t, code, va);
	return pack_step(t->shared->arch, &described);
}

static void put_step(struct target *t, uint64_t pc, uint64_t step)
{
	struct rt_step *table = target_at(t, RT_STEP_TABLE);
	uint32_t home = rt_step_home(pc);
	for (uint32_t i = 0; i < RT_STEP_CHAIN; i++) {
		struct rt_step *s = &table[(home + i) % RT_STEPS];
		if (s->pc == pc) {
			__atomic_store_n(&s->step, step, __ATOMIC_RELEASE);
			return;
		}
		if (!s->pc) {
			s->step = step;
			vec_push(&t->region.steps, (uint32_t)(s - table));
			__atomic_store_n(&s->pc, pc, __ATOMIC_RELEASE);
			return;
		}
	}
}

/* The step from a frame that is neither the innermost one nor the last of a complete walk. */
static uint64_t step_from(struct target *t, const struct frame *f)
{
	bool interrupted = f->link == LINK_SIGNAL;
	if (f->exact && root_is_trampoline(f->code, f->va, interrupted))
		return RT_STEP_SIGNAL;
	return f->exact ? step_at(t, f->code, f->va) : step_of_call(t, f->code, f->va - 1);
}

/* Signals interrupt a program at any instruction. Steps of interrupted instructions are added only
 * as long as they leave room for return addresses. */
static void learn_frame(struct target *t, const struct frame *f, bool root)
{
	bool interrupted = f->link == LINK_SIGNAL;
	uint64_t pc = f->pc & t->shared->arch->layout->code_mask;
	if (!f->code || !f->code->recipes || (interrupted && t->region.steps.len > EXACT_STEPS_MAX))
		return;
	put_step(t, interrupted ? pc | RT_STEP_EXACT : pc, root ? RT_STEP_ROOT : step_from(t, f));
}

void steps_learn(struct target *t, const struct walk *w)
{
	for (uint32_t i = 1; i < w->frames.len; i++)
		learn_frame(t, &w->frames.data[i],
			    i + 1 == w->frames.len && w->end == WALK_COMPLETE);
}

void steps_forget(struct target *t)
{
	struct rt_step *table = target_at(t, RT_STEP_TABLE);
	vec_each (i, &t->region.steps)
		__atomic_store_n(&table[*i].step, RT_STEP_NONE, __ATOMIC_RELEASE);
	__atomic_add_fetch(&target_header(t)->epoch, 1, __ATOMIC_RELEASE);
}
