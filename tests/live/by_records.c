#include "by_records.h"

enum { COPIED = 128, RECORDS_MAX = 127 };

/* As perf_callchain_user() does. */
static uint32_t follow_records(struct memory_window *memory, const struct registers *regs,
			       uint64_t *returns)
{
	uint64_t at = regs->reg[arch_native()->fp], next;
	uint32_t n = 0;
	while (n < RECORDS_MAX && at && at % 8 == 0 && memory_window_word(memory, at, &next) &&
	       memory_window_word(memory, at + 8, &returns[n])) {
		n++;
		if (next <= at)
			break;
		at = next;
	}
	return n;
}

static bool is_same(const struct walk *a, const struct walk *right)
{
	if (a->frames.len != right->frames.len)
		return false;
	for (uint32_t i = 0; i < a->frames.len; i++) {
		const struct frame *f = &a->frames.data[i], *r = &right->frames.data[i];
		if (f->pc != r->pc || (f->cfa && f->cfa != r->cfa))
			return false;
	}
	return true;
}

void by_records_compare(struct by_records *b, struct walker *w, struct space *s,
			const struct registers *regs, struct memory_window *memory,
			const struct walk *right)
{
	uint8_t bytes[COPIED];
	uint64_t returns[RECORDS_MAX];
	uint64_t sp = regs->reg[arch_native()->sp];
	struct stack_copy copy = {sp, bytes, memory_read(memory->pid, sp, bytes, COPIED)};
	const struct frame_chain chain = {returns, follow_records(memory, regs, returns)};
	walk_stack(w, s, regs, read_stack_copy, &copy, &b->walk);
	if (b->walk.end != WALK_STACK_COPY)
		return;
	walk_by_records(w, s, regs, &chain, &copy, &b->walk);
	if (b->walk.end != WALK_COMPLETE)
		return;
	b->complete++;
	if (is_same(&b->walk, right))
		return;
	if (!b->wrong++)
		b->first_wrong = regs->pc;
}
