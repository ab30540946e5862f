/* Walks procedures at random and follows the registers that liveness calls free: each must be
 * overwritten before it is read. Random procedures of both architectures, and this very program's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "flow/effects.h"
#include "flow/liveness.h"
#include "made_code.h"

enum { PROCEDURES = 1500, WALKS = 20, STEPS = 60, OF_THIS_PROGRAM = 400 };

struct walk {
	const struct liveness *l;
	struct regset free;          /* at some place before, and not overwritten since */
	struct regset written, used; /* since the entry: overwritten; and read after the last time
				      */
	uint64_t found;              /* free registers met */
};

static bool is_empty(struct regset s)
{
	return !s.core && !s.vec;
}

/* A register that is free on the way must not be read now. */
static void read_now(struct walk *w, struct regset reads, uint64_t va)
{
	struct regset wrong = regset_and(w->free, reads);
	if (!is_empty(wrong))
		fail_msg("0x%llx reads core 0x%llx vec 0x%x, which were free",
			 (unsigned long long)va, (unsigned long long)wrong.core, wrong.vec);
}

static void write_now(struct walk *w, struct regset writes)
{
	w->free = regset_without(w->free, writes);
}

static void note_use(struct walk *w, const struct insn *in)
{
	const uint64_t flags = UINT64_C(1) << REG_FLAGS;
	bool besides = in->writes.core & ~flags || in->writes.vec;
	w->used = regset_or(w->used, in->reads);
	w->used = regset_without(w->used, in->writes);
	w->written = regset_or(w->written, regset_without(in->writes, in->reads));
	if (in->writes.core & flags && besides)
		w->used.core |= flags;
}

static void step(struct walk *w, uint32_t block, const struct insn *in)
{
	struct regset live = liveness_before(w->l, block, in->pc);
	struct regset unused = liveness_free(w->l->arch, &live);
	w->found += !is_empty(unused);
	w->free = regset_or(w->free, unused);
	assert_int_equal(unused.core >> w->l->arch->sp & 1, 0);
	read_now(w, in->reads, in->pc);
	if (in->kind == INSN_SYSCALL)
		read_now(w, (struct regset){.core = ~in->writes.core}, in->pc);
	write_now(w, in->writes);
	note_use(w, in);
}

/* What is free when control goes to `target` must be overwritten there. */
static void arrive(struct walk *w, uint64_t target, uint64_t from)
{
	struct walk there = *w;
	struct cursor c;
	struct insn in;
	cursor_set(&c, w->l->image, w->l->arch, target, UINT64_MAX);
	for (int i = 0; i < 6 && target && cursor_next(&c, DECODE_FULL, &in); i++) {
		read_now(&there, in.reads, in.pc);
		write_now(&there, in.writes);
		if (in.kind != INSN_PLAIN)
			break;
	}
	read_now(&there, REGSET_ALL, from);
}

static void leave(struct walk *w, const struct block *b, uint64_t va)
{
	switch (b->end) {
	case END_CALL:
		arrive(w, b->target, va);
		w->free = (struct regset){0}; /* all overwritten there */
		break;
	case END_TAIL_CALL: arrive(w, b->target, va); break;
	case END_RETURN:
		read_now(w, regset_without(REGSET_ALL, w->l->arch->scratch), va);
		read_now(w, regset_without(REGSET_ALL, regset_and(w->written, w->used)), va);
		break;
	case END_FALL:
	case END_JUMP:
	case END_BRANCH:
	case END_SWITCH: break;
	default: read_now(w, REGSET_ALL, va); break;
	}
}

static void walk_once(struct walk *w)
{
	const struct cfg *g = w->l->cfg;
	uint32_t at = g->entry;
	for (int i = 0; i < STEPS; i++) {
		const struct block *b = &g->blocks[at];
		struct cursor c;
		struct insn in = {0};
		cursor_set(&c, w->l->image, w->l->arch, b->start, b->size);
		while (cursor_next(&c, DECODE_FULL, &in))
			step(w, at, &in);
		leave(w, b, in.pc);
		if (!b->edge_count)
			return;
		const struct edge *e = &g->edges[b->first_edge + made_random(b->edge_count)];
		struct regset live = liveness_on_edge(w->l, e);
		w->free = regset_or(w->free, liveness_free(w->l->arch, &live));
		if (e->kind == EDGE_UNWIND)
			return;
		at = e->to;
	}
}

/* Returns how many instructions were passed with free registers. */
static uint64_t check_graph(const struct flow *f, const struct cfg *g, struct arena *a,
			    struct arena *tmp)
{
	struct liveness l;
	uint64_t found = 0;
	liveness_find(&l, f, g, (struct regset){0}, a, tmp);
	for (int i = 0; i < WALKS && g->block_count; i++) {
		struct walk w = {.l = &l};
		walk_once(&w);
		found += w.found;
	}
	return found;
}

static void free_registers_are_overwritten_before_they_are_read(void **state)
{
	uint64_t found = 0;
	struct arena a;
	(void)state;
	arena_init(&a);
	for (int i = 0; i < PROCEDURES; i++) {
		struct made m;
		assert_true(made_open(&m, i & 1 ? &arch_a64 : &arch_x64));
		found += check_graph(m.flow, made_cfg(&m, &a, &a), &a, &a);
		made_close(&m);
		arena_clear(&a);
	}
	assert_true(found > PROCEDURES * WALKS);
	arena_release(&a);
}

static void so_are_those_of_this_program(void **state)
{
	struct image *im;
	struct flow *f;
	struct err e;
	struct arena a, tmp;
	uint32_t count;
	uint64_t found = 0;
	(void)state;
	arena_init(&a);
	arena_init(&tmp);
	assert_int_equal(image_open(&im, "/proc/self/exe", &e), 0);
	assert_int_equal(flow_open(&f, im, &e), 0);
	flow_discover(f);
	flow_procedures(f, &count);
	for (int i = 0; i < OF_THIS_PROGRAM; i++) {
		const struct cfg *g = flow_cfg(f, made_random(count), &a, &tmp);
		found += check_graph(f, g, &a, &tmp);
		arena_clear(&a);
		arena_clear(&tmp);
	}
	assert_true(found > OF_THIS_PROGRAM * WALKS);
	flow_close(f);
	image_close(im);
	arena_release(&a);
	arena_release(&tmp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(free_registers_are_overwritten_before_they_are_read),
		cmocka_unit_test(so_are_those_of_this_program),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
