#include "diagnose/spin.h"

#include <string.h>

#include "base/vec.h"
#include "flow/entry.h"
#include "flow/flow.h"
#include "isa/outlined.h"

/* Loops that wait are short. */
enum { MAX_INSNS = 64 };

static const uint64_t flags = UINT64_C(1) << REG_FLAGS;

struct waiting_loop {
	const struct code *code;
	const struct cfg *g;
	struct insn insns[MAX_INSNS];
	/* Before each instruction, the registers that change only when memory does that others
	 * write. */
	uint64_t steady[MAX_INSNS];
	bool leads[MAX_INSNS]; /* it is the first of its block */
	uint32_t count;
	uint64_t stack;   /* registers that point to the own stack frame */
	uint64_t written; /* in the loop */
	uint64_t watched; /* they depend on memory that others write */
	bool stores;      /* to the own stack frame */
};

/* ---- the instructions ---- */

static bool is_atomic(const struct insn *in)
{
	return in->class == CLASS_ATOMIC;
}

static bool is_load(const struct insn *in)
{
	return in->class == CLASS_LOAD || in->op == OP_COMPARE_MEM || in->op == OP_TEST_MEM ||
	       is_atomic(in);
}

/* What decides the instruction's result. An atomic operation reads the expected value from the
 * register to which it writes the value found. */
static uint64_t inputs(const struct insn *in)
{
	return is_atomic(in) ? in->reads.core & ~in->writes.core : in->reads.core;
}

static bool reads_stack(const struct waiting_loop *w, const struct insn *in)
{
	return is_load(in) && !is_atomic(in) && in->reads.core & w->stack;
}

static const char *name_of(const struct code *code, uint64_t function)
{
	uint32_t count, i = flow_function_at(code->flow, function);
	const char *name = i == UINT32_MAX ? NULL : flow_functions(code->flow, &count)[i].name;
	return name ? name : "";
}

/* Calls with which a thread passes the time. */
static bool yields(const struct code *code, uint64_t target)
{
	static const char *const names[] = {"sched_yield", "__sched_yield", "pthread_yield",
					    "thrd_yield"};
	const char *name = name_of(code, target);
	size_t n = strcspn(name, "@");
	for (uint32_t k = 0; k < ARRAY_SIZE(names); k++)
		if (n == strlen(names[k]) && !strncmp(name, names[k], n))
			return true;
	return false;
}

/* Adds the instructions of a block; false if there are too many, or some are unreadable. */
static bool add_block(struct waiting_loop *w, const struct block *b)
{
	for (uint64_t va = b->start; va < b->start + b->size;) {
		struct insn *in = &w->insns[w->count];
		if (w->count == MAX_INSNS ||
		    !decode_at(w->code->module, w->code->arch, va, DECODE_FULL, in))
			return false;
		w->leads[w->count++] = va == b->start;
		va += in->length;
		if (in->kind == INSN_CALL)
			outlined_atomic(name_of(w->code, in->target), in);
		w->written |= in->writes.core;
		/* A callee leaves its own values behind. */
		if (in->kind == INSN_CALL)
			w->written |= ~w->code->arch->callee_saved.core & ~w->stack;
	}
	return true;
}

static bool add_blocks(struct waiting_loop *w, const struct loop_forest *f, uint32_t loop)
{
	const struct loop *l = &f->loops[loop];
	uint32_t i = 0;
	while (i < l->block_count && l->block_count <= MAX_INSNS &&
	       add_block(w, &w->g->blocks[f->blocks[l->first_block + i]]))
		i++;
	return i == l->block_count;
}

/* ---- the stack frame ---- */

/* Returns true if the entry block makes the frame pointer point to the stack frame. */
static bool has_frame_pointer(const struct waiting_loop *w)
{
	const struct arch *arch = w->code->arch;
	const struct block *b = &w->g->blocks[w->g->entry];
	struct insn in;
	for (uint64_t va = b->start; va < b->start + b->size; va += in.length) {
		if (!decode_at(w->code->module, arch, va, DECODE_FULL, &in))
			return false;
		if ((in.op == OP_MOVE || in.op == OP_ADD) && in.dst == arch->fp && in.a == arch->sp)
			return true;
	}
	return false;
}

static bool is_store(const struct insn *in)
{
	return in->class == CLASS_STORE;
}

/* Returns true if the address is in the stack frame. The registers of an address are not told apart
 * from that of a value; a simple store has at most one of that. */
static bool stores_to_stack(const struct waiting_loop *w, const struct insn *in)
{
	if (in->op == OP_STORE || in->op == OP_STORE_PAIR)
		return in->a < REG_FLAGS && w->stack >> in->a & 1 && in->b == REG_NONE;
	return !(in->reads.core & ~(w->stack | flags)) && in->reads.core & w->stack;
}

/* ---- values ---- */

static bool is_steady(const struct waiting_loop *w, uint32_t i)
{
	const struct insn *in = &w->insns[i];
	return !(inputs(in) & ~w->steady[i]) && !(w->stores && reads_stack(w, in));
}

/* The same of a test that is only made if another one came out in a certain way. */
static bool tests_steady(const struct waiting_loop *w, uint32_t i)
{
	const struct insn *in = &w->insns[i];
	return !(inputs(in) & ~w->steady[i] & ~flags) && !(w->stores && reads_stack(w, in));
}

/* One pass over the loop, if these registers are steady at the beginning of each block. Returns
 * those that are so at the end of each block that writes them. What a call leaves in registers is
 * not used. */
static uint64_t steady_ends(struct waiting_loop *w, uint64_t begins)
{
	uint64_t all = UINT64_MAX, now = begins, written = 0;
	for (uint32_t i = 0; i < w->count; i++) {
		const struct insn *in = &w->insns[i];
		if (w->leads[i]) {
			all &= now | ~written;
			now = begins;
			written = 0;
		}
		w->steady[i] = now;
		if (in->kind == INSN_CALL)
			continue;
		written |= in->writes.core;
		now = is_steady(w, i) ? now | in->writes.core : now & ~in->writes.core;
	}
	return all & (now | ~written);
}

/* A register that depends on its own former value is not steady: it may count. */
static void find_steady(struct waiting_loop *w)
{
	uint64_t begins = ~w->written, ends;
	while ((ends = steady_ends(w, begins)) & ~begins)
		begins |= ends;
}

/* Whether a store-exclusive has succeeded says nothing about the memory. */
static bool watches(const struct waiting_loop *w, uint32_t i)
{
	const struct insn *in = &w->insns[i];
	bool loads = is_load(in) && !reads_stack(w, in) && !(in->flags & INSN_EXCLUSIVE_END);
	return tests_steady(w, i) && (loads || inputs(in) & w->watched);
}

static void find_watched(struct waiting_loop *w)
{
	uint64_t before;
	do {
		before = w->watched;
		for (uint32_t i = 0; i < w->count; i++)
			if (watches(w, i))
				w->watched |= w->insns[i].writes.core & ~flags;
	} while (w->watched != before);
}

/* ---- what may be in such a loop ---- */

/* Counts tries, or makes a pause longer. */
static bool counts(const struct insn *in)
{
	switch (in->op) {
	case OP_ADD: return in->b == REG_NONE || in->a == in->b;
	case OP_SUB:
	case OP_MOVE:
	case OP_SET:
	case OP_SHIFT_LEFT:
	case OP_COMPARE:
	case OP_TEST: return true;
	default: return false;
	}
}

/* An atomic operation that stores what it has computed from memory makes progress, and is only
 * repeated because others do. */
static bool tries(const struct waiting_loop *w, uint32_t i)
{
	return !(inputs(&w->insns[i]) & (w->watched | (~w->steady[i] & ~flags)));
}

static bool is_plain_waiting(const struct waiting_loop *w, uint32_t i)
{
	const struct insn *in = &w->insns[i];
	if (in->writes.vec || in->class == CLASS_FLOAT || in->class == CLASS_SIMD ||
	    in->op == OP_PUSH || in->op == OP_POP || in->kind == INSN_SYSCALL)
		return false;
	if (is_atomic(in))
		return tries(w, i);
	if (is_store(in))
		return stores_to_stack(w, in);
	if (is_load(in))
		return reads_stack(w, in) || is_steady(w, i);
	return is_steady(w, i) || counts(in) || !(in->writes.core & ~flags);
}

static bool may_wait(const struct waiting_loop *w, uint32_t i)
{
	switch (w->insns[i].kind) {
	case INSN_PLAIN: return is_plain_waiting(w, i);
	case INSN_JUMP:
	case INSN_BRANCH: return true;
	case INSN_CALL: return yields(w->code, w->insns[i].target);
	default: return false;
	}
}

/* Returns true if a branch depends on what the loop reads. */
static bool decides(const struct waiting_loop *w, uint32_t branch)
{
	const struct insn *in = &w->insns[branch];
	if (in->kind != INSN_BRANCH)
		return false;
	if (!(in->reads.core & flags))
		return watches(w, branch);
	while (!w->leads[branch])
		if (w->insns[--branch].writes.core & flags)
			return watches(w, branch);
	return false;
}

static bool is_fixed_read(const struct waiting_loop *w, uint32_t i)
{
	const struct insn *in = &w->insns[i];
	bool reads = in->op == OP_LOAD || in->op == OP_COMPARE_MEM || in->op == OP_TEST_MEM;
	return reads && watches(w, i) && !(in->reads.core & w->written);
}

struct spin spin_in(const struct code *code, const struct cfg *g, const struct loop_forest *f,
		    uint32_t loop)
{
	struct waiting_loop w = {.code = code, .g = g, .stack = UINT64_C(1) << code->arch->sp};
	struct spin out = {0};
	if (!add_blocks(&w, f, loop))
		return out;
	if (has_frame_pointer(&w))
		w.stack |= UINT64_C(1) << code->arch->fp;
	for (uint32_t i = 0; i < w.count; i++)
		w.stores |= is_store(&w.insns[i]);
	find_steady(&w);
	find_watched(&w);
	for (uint32_t i = 0; i < w.count; i++) {
		if (!may_wait(&w, i))
			return (struct spin){0};
		out.spins |= decides(&w, i);
		if (!out.read && is_fixed_read(&w, i))
			out.read = w.insns[i].pc;
	}
	return out;
}

uint64_t spin_address(const struct insn *in, const uint64_t *registers, uint64_t bias)
{
	uint64_t address = (uint64_t)in->imm;
	if (in->a != REG_NONE)
		address += registers[in->a];
	if (in->b != REG_NONE)
		address += registers[in->b] << in->shift;
	return in->a == REG_NONE && in->b == REG_NONE ? address + bias : address;
}
