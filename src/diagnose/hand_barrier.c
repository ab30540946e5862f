#include "diagnose/hand_barrier.h"

#include <string.h>

#include "base/vec.h"
#include "flow/entry.h"
#include "flow/flow.h"

static const char *const waits[] = {"pthread_cond_wait",
				    "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE"};
static const char *const wakes[] = {"pthread_cond_broadcast",
				    "_ZNSt18condition_variable10notify_allEv"};

static bool is_call_of(const struct code *code, const struct block *b, const char *const *names,
		       uint32_t count)
{
	uint32_t n, i = b->end == END_CALL ? flow_function_at(code->flow, b->target) : UINT32_MAX;
	const char *name = i == UINT32_MAX ? NULL : flow_functions(code->flow, &n)[i].name;
	size_t length = name ? strcspn(name, "@") : 0;
	for (uint32_t k = 0; name && k < count; k++)
		if (length == strlen(names[k]) && !strncmp(name, names[k], length))
			return true;
	return false;
}

/* ---- which condition variable ---- */

/* What an argument may be: a constant, or what a register holds at the beginning plus a constant.
 * Control flow is not looked at: all that any instruction of the function computes is possible. */
enum { MOST_ADDRESSES = 8, MOST_COPIES = 3 };

struct addresses {
	const struct code *code;
	const struct cfg *g;
	struct address {
		uint8_t base; /* REG_NONE for a constant */
		uint64_t offset;
	} list[MOST_ADDRESSES];
	uint32_t count;
};

static void add_address(struct addresses *x, uint8_t base, uint64_t offset)
{
	if (x->count < MOST_ADDRESSES)
		x->list[x->count++] = (struct address){base, offset};
}

static bool is_copy(const struct insn *in)
{
	return in->a < REG_FLAGS && (in->op == OP_MOVE || (in->op == OP_ADD && in->b == REG_NONE));
}

static bool is_restored(const struct code *code, const struct insn *in)
{
	return in->op == OP_POP ||
	       ((in->op == OP_LOAD || in->op == OP_LOAD_PAIR) && in->a == code->arch->sp);
}

typedef void (*see_insn)(void *ctx, const struct insn *in);

static void each_insn(const struct code *code, const struct block *b, see_insn see, void *ctx)
{
	struct insn in;
	for (uint64_t va = b->start; va < b->start + b->size; va += in.length) {
		if (!decode_at(code->module, code->arch, va, DECODE_FULL, &in))
			return;
		see(ctx, &in);
	}
}

/* Instructions that write a register. */
struct writers {
	const struct code *code;
	uint8_t reg;
	uint32_t count;
	struct insn list[MOST_ADDRESSES];
};

static void note_writer(void *ctx, const struct insn *in)
{
	struct writers *w = ctx;
	if (in->kind == INSN_PLAIN && regset_has(&in->writes, w->reg) &&
	    !is_restored(w->code, in) && w->count < MOST_ADDRESSES)
		w->list[w->count++] = *in;
}

/* Adds what the register may hold, plus an offset. */
static void add_register(struct addresses *x, uint8_t reg, uint64_t offset, int steps)
{
	struct writers w = {.code = x->code, .reg = reg};
	for (uint32_t i = 0; i < x->g->block_count; i++)
		each_insn(x->code, &x->g->blocks[i], note_writer, &w);
	if (!w.count)
		add_address(x, reg, offset);
	for (uint32_t i = 0; i < w.count && steps; i++) {
		const struct insn *in = &w.list[i];
		uint64_t more = in->op == OP_MOVE ? 0 : (uint64_t)in->imm;
		if (in->op == OP_SET)
			add_address(x, REG_NONE, offset + more);
		else if (is_copy(in) && in->a != reg)
			add_register(x, in->a, offset + more, steps - 1);
	}
}

/* Finds what the first argument of the call may be that ends the block. */
static struct addresses argument_of(const struct code *code, const struct cfg *g,
				    const struct block *b)
{
	struct addresses x = {.code = code, .g = g};
	struct writers w = {.code = code, .reg = code->arch->first_arg};
	each_insn(code, b, note_writer, &w);
	if (!w.count)
		return x;
	const struct insn *last = &w.list[w.count - 1];
	if (last->op == OP_SET)
		add_address(&x, REG_NONE, (uint64_t)last->imm);
	else if (is_copy(last))
		add_register(&x, last->a, last->op == OP_MOVE ? 0 : (uint64_t)last->imm,
			     MOST_COPIES);
	return x;
}

static bool overlap(const struct addresses *x, const struct addresses *y)
{
	for (uint32_t i = 0; i < x->count; i++)
		for (uint32_t k = 0; k < y->count; k++)
			if (x->list[i].base == y->list[k].base &&
			    x->list[i].offset == y->list[k].offset)
				return true;
	return false;
}

bool is_hand_barrier(const struct code *code, const struct cfg *g)
{
	for (uint32_t i = 0; i < g->block_count; i++) {
		if (!is_call_of(code, &g->blocks[i], waits, ARRAY_SIZE(waits)))
			continue;
		struct addresses waited = argument_of(code, g, &g->blocks[i]);
		for (uint32_t k = 0; k < g->block_count; k++) {
			if (!is_call_of(code, &g->blocks[k], wakes, ARRAY_SIZE(wakes)))
				continue;
			struct addresses woken = argument_of(code, g, &g->blocks[k]);
			if (overlap(&waited, &woken))
				return true;
		}
	}
	return false;
}
