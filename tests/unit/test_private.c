/* Walks random functions of both architectures, and follows the candidates for private registers
 * over calls: one that is read behind a call, with a value from before it or from the callee, must
 * not be called private. What is private to whom in each single case, tests/golden/ARCH/private.s
 * shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "flow/effects.h"
#include "made_code.h"
#include "own_code.h"

enum { FUNCTIONS = 3000, WALKS = 20, STEPS = 60 };

struct walk {
	const struct made *m;
	const struct private_set *big, *small;
	uint64_t high, low; /* parts of candidates that a call has left, */
	uint32_t vec;       /* and vectors */
	/* How often one was met: read there, a vector read there; private; kept. */
	uint64_t over, over_vec, private, kept;
};

static void expect_none(struct regset registers, const char *what, uint64_t va)
{
	if (registers.core || registers.vec)
		fail_msg("0x%llx reads core 0x%llx vec 0x%x behind a call, %s",
			 (unsigned long long)va, (unsigned long long)registers.core, registers.vec,
			 what);
}

/* The small function overwrites one candidate: what is read of others was there before. */
static struct regset overwritten(const struct made *m)
{
	return (struct regset){.core = UINT64_C(1) << (m->arch == &arch_a64 ? 17 : 10)};
}

static void step(struct walk *w, const struct insn *in)
{
	struct regset reads = {(in->parts.high_reads & w->high) | (in->parts.low_reads & w->low),
			       in->reads.vec & w->vec};
	/* A push is no read; nor is what a system call does not take. */
	if (in->op == OP_PUSH || in->kind == INSN_SYSCALL)
		reads = (struct regset){0};
	expect_none(regset_and(reads, w->big->registers), "private to the caller", in->pc);
	expect_none(regset_without(regset_and(reads, w->small->registers), overwritten(w->m)),
		    "private to the callee", in->pc);
	w->over += reads.core != 0;
	w->over_vec += reads.vec != 0;
	w->private += (w->big->registers.core & w->m->arch->private_candidates.core) != 0;
	w->kept += w->small->kept.core != 0;
	w->high &= ~in->parts.high_writes;
	w->low &= ~in->parts.low_writes;
	w->vec &= ~in->writes.vec;
}

static void walk_once(struct walk *w, const struct cfg *g)
{
	uint32_t at = g->entry;
	for (int i = 0; i < STEPS; i++) {
		const struct block *b = &g->blocks[at];
		struct decoder c;
		struct insn in = {0};
		cursor_set(&c, w->m->module, w->m->arch, b->start, b->size);
		while (cursor_next(&c, DECODE_FULL, &in))
			step(w, &in);
		if (b->end == END_CALL) {
			w->high = w->low = w->m->arch->private_candidates.core;
			w->vec = w->m->arch->private_candidates.vec;
		}
		if (!b->edge_count)
			return;
		at = g->edges[b->first_edge + made_random(b->edge_count)].to;
	}
}

static void what_is_read_behind_calls_is_not_private(void **state)
{
	uint64_t over = 0, over_vec = 0, private = 0, kept = 0;
	struct arena a;
	(void)state;
	arena_init(&a);
	for (int i = 0; i < FUNCTIONS; i++) {
		struct private_registers p;
		struct made m;
		assert_true(made_open(&m, i & 1 ? &arch_a64 : &arch_x64));
		private_find(&p, m.flow);
		const struct cfg *g = made_cfg(&m, &a, &a);
		for (int k = 0; k < WALKS; k++) {
			struct walk w = {.m = &m,
					 .big = &p.of[made_function(&m, "big")],
					 .small = &p.of[made_function(&m, "small")]};
			walk_once(&w, g);
			over += w.over;
			over_vec += w.over_vec;
			private += w.private;
			kept += w.kept;
		}
		private_release(&p);
		made_close(&m);
		arena_clear(&a);
	}
	assert_true(over > FUNCTIONS);
	assert_true(over_vec > FUNCTIONS);
	assert_true(private > FUNCTIONS * WALKS);
	assert_true(kept > FUNCTIONS);
	arena_release(&a);
}

/* Compilers keep to the conventions where it matters: this very program has private registers. */
static void most_functions_of_this_program_have_private_registers(void **state)
{
	struct own_code own;
	uint32_t have = 0, have_vec = 0, all = 0;
	(void)state;
	own_code_open(&own);
	assert_int_equal(own.private.count, own.count);
	for (uint32_t i = 0; i < own.count; i++) {
		struct regset registers = own.private.of[i].registers;
		if (own.functions[i].flags & FUNCTION_PLT) {
			assert_int_equal(registers.core, 0);
			assert_int_equal(registers.vec, 0);
			continue;
		}
		all++;
		have += (registers.core & UINT32_MAX) != 0;
		have_vec += registers.vec != 0;
	}
	assert_true(all > 100 && have * 10 > all * 9 && have_vec * 10 > all * 9);
	own_code_close(&own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read_behind_calls_is_not_private),
		cmocka_unit_test(most_functions_of_this_program_have_private_registers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
