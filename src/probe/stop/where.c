#include "probe/stop/where.h"

#include "probe/region/layout.h"
#include "process/memory.h"

bool stack_has(struct target *t, uint64_t sp, word_finder finds, void *ctx)
{
	uint64_t words[512], low, high, mask = t->shared->arch->layout->code_mask;
	layout_stack(t, sp, &low, &high);
	for (uint64_t at = sp & ~UINT64_C(7); at < high; at += sizeof(words)) {
		size_t want = high - at < sizeof(words) ? high - at : sizeof(words);
		size_t have = memory_read(t->pid, at, words, want);
		for (size_t i = 0; i < have / sizeof(*words); i++)
			if (finds(ctx, words[i] & mask))
				return true;
		if (have < want)
			break;
	}
	return false;
}

static bool names_code(void *header, uint64_t word)
{
	return header_has_code(header, word);
}

bool stack_leads_to(struct target *t, const struct rt_header *h, const struct registers *r,
		    const struct walk *w)
{
	for (uint32_t i = 1; i < w->frames.len; i++)
		if (header_has_code(h, w->frames.data[i].pc))
			return true;
	return w->end != WALK_COMPLETE &&
	       stack_has(t, r->reg[t->shared->arch->sp], names_code, (void *)(uintptr_t)h);
}

bool thread_is_in(struct target *t, struct control_thread *th, const struct rt_header *h)
{
	struct shared *g = t->shared;
	struct registers r;
	struct walk w = {0};
	if (!th->stopped || !control_registers(th, &r) || header_has_code(h, r.pc) ||
	    (h->trap_handler && control_has_trapped(th)))
		return true;
	memory_window_init(g->window, t->pid);
	walk_stack(g->walker, t->space, &r, memory_window_word, g->window, &w);
	bool in = stack_leads_to(t, h, &r, &w);
	vec_free(&w.frames);
	return in;
}

void clear_passed_registers(struct target *t, uint64_t region)
{
	struct control_thread *threads[RT_AREAS];
	uint32_t count = control_users(t->shared->control, t->pid, threads, RT_AREAS);
	uint8_t frame = t->shared->arch->pass[1];
	for (uint32_t i = 0; frame != REG_NONE && i < count && i < RT_AREAS; i++) {
		struct registers r;
		if (threads[i]->stopped && control_registers(threads[i], &r) &&
		    r.reg[frame] - region < RT_REGION_SIZE)
			control_set_register(threads[i], frame, 0);
	}
}
