/* Walks functions at random and follows the registers that liveness calls free: each must be
 * overwritten before it is read. Random functions of both architectures, and this very program's;
 * each also with what flow/private.h says is private to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "flow/effects.h"
#include "flow/liveness.h"
#include "made_code.h"
#include "own_code.h"

enum { FUNCTIONS = 1500, WALKS = 20, STEPS = 60, OF_THIS_PROGRAM = 400 };

struct walk {
	const struct liveness *l;
	struct regset free;          /* at some place before, and not overwritten since */
	struct regset written, used; /* since the entry: overwritten; and read after the last time
				      */
	uint64_t found;              /* free registers met, */
	uint64_t found_private;      /* and private ones among them */
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
	w->found_private += !is_empty(regset_and(unused, w->l->private));
	assert_true(is_empty(regset_without(regset_or(in->reads, in->writes), w->l->touched)));
	w->free = regset_or(w->free, unused);
	assert_int_equal(unused.core >> w->l->arch->sp & 1, 0);
	read_now(w, in->reads, in->pc);
	if (in->kind == INSN_SYSCALL)
		read_now(w, (struct regset){.core = ~in->writes.core}, in->pc);
	write_now(w, in->writes);
	note_use(w, in);
}

/* Flags that a shift may leave as they are count as read. But it does not need their value: whoever
 * finds them private has looked further (flow/uses.c). */
static uint64_t preserved(const struct arch *arch, const struct insn *in)
{
	const uint64_t flags = UINT64_C(1) << REG_FLAGS;
	bool needed = (in->parts.high_reads | in->parts.low_reads) & flags;
	return arch == &arch_x64 && in->writes.core & in->reads.core & flags && !needed ? flags : 0;
}

/* What is free when control goes to `target` must be overwritten there; nobody reads it if it is
 * private. */
static void arrive(struct walk *w, uint64_t target, uint64_t from)
{
	struct walk there = *w;
	struct decoder c;
	struct insn in;
	cursor_set(&c, w->l->module, w->l->arch, target, UINT64_MAX);
	for (int i = 0; i < 6 && target && cursor_next(&c, DECODE_FULL, &in); i++) {
		struct regset kept = {.core = preserved(w->l->arch, &in)};
		read_now(&there, regset_without(in.reads, kept), in.pc);
		write_now(&there, regset_without(in.writes, kept));
		if (in.kind != INSN_PLAIN)
			break;
	}
	read_now(&there, regset_without(REGSET_ALL, w->l->private), from);
}

static void leave(struct walk *w, const struct block *b, uint64_t va)
{
	const struct regset others = regset_without(REGSET_ALL, w->l->private);
	switch (b->end) {
	case END_CALL:
		arrive(w, b->target, va);
		w->free = (struct regset){0}; /* all overwritten there */
		break;
	case END_TAIL_CALL: arrive(w, b->target, va); break;
	case END_RETURN:
		read_now(w, regset_without(others, w->l->arch->scratch), va);
		read_now(w, regset_without(others, regset_and(w->written, w->used)), va);
		break;
	case END_FALL:
	case END_JUMP:
	case END_BRANCH:
	case END_SWITCH: break;
	default: read_now(w, others, va); break;
	}
}

static void walk_once(struct walk *w)
{
	const struct cfg *g = w->l->cfg;
	uint32_t at = g->entry;
	for (int i = 0; i < STEPS; i++) {
		const struct block *b = &g->blocks[at];
		struct decoder c;
		struct insn in = {0};
		cursor_set(&c, w->l->module, w->l->arch, b->start, b->size);
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

/* How many instructions were passed with free registers, and with private ones among them. */
struct found {
	uint64_t any, private;
};

static void check_graph(const struct flow *f, const struct cfg *g, struct regset private,
			struct arena *a, struct found *found)
{
	struct liveness l;
	liveness_find(&l, f, g, private, a, a);
	for (int i = 0; i < WALKS && g->block_count; i++) {
		struct walk w = {.l = &l};
		walk_once(&w);
		found->any += w.found;
		found->private += w.found_private;
	}
}

static void free_registers_are_overwritten_before_they_are_read(void **state)
{
	struct found found = {0};
	struct arena a;
	(void)state;
	arena_init(&a);
	for (int i = 0; i < FUNCTIONS; i++) {
		struct private_registers p;
		struct made m;
		assert_true(made_open(&m, i & 1 ? &arch_a64 : &arch_x64));
		private_find(&p, m.flow);
		const struct cfg *g = made_cfg(&m, &a, &a);
		struct regset private = p.of[made_function(&m, "big")].registers;
		check_graph(m.flow, g, (struct regset){0}, &a, &found);
		check_graph(m.flow, g, private, &a, &found);
		private_release(&p);
		made_close(&m);
		arena_clear(&a);
	}
	assert_true(found.any > FUNCTIONS * WALKS * 2);
	assert_true(found.private > FUNCTIONS * WALKS);
	arena_release(&a);
}

static void so_are_those_of_this_program(void **state)
{
	struct own_code own;
	struct arena a;
	struct found found = {0};
	(void)state;
	arena_init(&a);
	own_code_open(&own);
	for (int i = 0; i < OF_THIS_PROGRAM; i++) {
		uint32_t n = made_random(own.count);
		const struct cfg *g = flow_cfg(own.flow, n, &a, &a);
		check_graph(own.flow, g, (struct regset){0}, &a, &found);
		check_graph(own.flow, g, own.private.of[n].registers, &a, &found);
		arena_clear(&a);
	}
	assert_true(found.any > OF_THIS_PROGRAM * WALKS * 2);
	assert_true(found.private > OF_THIS_PROGRAM * WALKS);
	own_code_close(&own);
	arena_release(&a);
}

/* A function that jumps to an unknown place. It touches the first candidate, not the second. */
static void check_unknown(const struct arch *arch, const void *bytes, uint32_t size, unsigned first,
			  unsigned second)
{
	struct made_code code = {0};
	struct liveness l;
	struct arena a;
	struct made m;
	arena_init(&a);
	made_add(&code, bytes, size);
	made_add_callee(arch, &code);
	assert_true(made_open_code(&m, arch, &code, size));
	const struct cfg *g = made_cfg(&m, &a, &a);
	liveness_find(&l, m.flow, g, (struct regset){0}, &a, &a);
	assert_true(l.unknown);
	assert_int_equal(liveness_free(arch, &l.at_start[g->entry]).core, 0);
	liveness_find(&l, m.flow, g, arch->private_candidates, &a, &a);
	assert_true(l.unknown);
	assert_true(regset_has(&l.touched, first));
	assert_false(regset_has(&l.touched, second));
	struct regset unused = liveness_free(arch, &l.at_start[g->entry]);
	assert_false(regset_has(&unused, first));
	assert_true(regset_has(&unused, second));
	made_close(&m);
	arena_release(&a);
}

static void in_unknown_code_what_is_private_and_untouched_is_free(void **state)
{
	/* stp x29, x30, [sp, -16]!; mov x16, 1; ldr x9, [x0]; add x9, x9, x1; br x9: with a frame
	 * in place, that is no tail call */
	static const uint32_t a64[] = {0xa9bf7bfd, 0xd2800030, 0xf9400009, 0x8b010129, 0xd61f0120};
	/* push rbx; mov r11d, 1; mov rax, [rdi]; add rax, rsi; jmp rax */
	static const uint8_t x64[] = {0x53, 0x41, 0xbb, 1,    0,    0,    0,   0x48,
				      0x8b, 0x07, 0x48, 0x01, 0xf0, 0xff, 0xe0};
	(void)state;
	check_unknown(&arch_a64, a64, sizeof(a64), 16, 17);
	check_unknown(&arch_x64, x64, sizeof(x64), 11, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(free_registers_are_overwritten_before_they_are_read),
		cmocka_unit_test(so_are_those_of_this_program),
		cmocka_unit_test(in_unknown_code_what_is_private_and_untouched_is_free),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
